/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/report.h"
#include "base/array.h"
#include "unit/near.h"

/* Values of published tables of the distribution. */
TEST(t_of_95_percent)
{
    static const struct {
        double df, t;
    } rows[] = {{1, 12.7062},  {2, 4.30265},  {3, 3.18245},   {5, 2.57058},
                {10, 2.22814}, {30, 2.04227}, {120, 1.97993}, {1e6, 1.95997}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_differs_less(student_t95(rows[i].df), rows[i].t, 1e-4);
    }
}

TEST(probability_of_a_t)
{
    static const struct {
        double t, df, p;
    } rows[] = {{0, 5, 1},         {1, 1, 0.5},        {2, 10, 0.073388},
                {3.169, 10, 0.01}, {2.576, 1e6, 0.01}, {4.144, 10, 0.002}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_differs_less(student_two_sided(rows[i].t, rows[i].df), rows[i].p, 2e-5);
    }
}

TEST(half_width_of_a_mean)
{
    const struct spread four = {4, 10, 2}, one = {1, 10, NAN}, none = {0, NAN, NAN};

    assert_differs_less(student_half_width(&four), 3.18245, 1e-4);
    assert_true(isnan(student_half_width(&one)));
    assert_true(isnan(student_half_width(&none)));
}

/* By hand: variances 4/5 and 9/7, 9.98 degrees of freedom. */
TEST(difference_of_two_means)
{
    const struct spread one = {5, 100, 2}, other = {7, 104, 3};
    const struct difference difference = student_difference(&one, &other);
    double error = sqrt(4.0 / 5 + 9.0 / 7);
    double df = pow(4.0 / 5 + 9.0 / 7, 2) / (pow(4.0 / 5, 2) / 4 + pow(9.0 / 7, 2) / 6);

    assert_differs_less(difference.mean, 4, 1e-12);
    assert_differs_less(difference.half_width, student_t95(df) * error, 1e-9);
    assert_true(difference.p > 0.019 && difference.p < 0.021);
}

TEST(what_is_not_known_gives_no_difference)
{
    const struct spread none = {0, NAN, NAN}, one = {1, 5, NAN}, alike = {3, 5, 0};
    struct difference difference = student_difference(&none, &alike);

    assert_true(isnan(difference.mean) && isnan(difference.p));
    difference = student_difference(&one, &alike);
    assert_differs_less(difference.mean, 0, 0);
    assert_true(isnan(difference.half_width) && isnan(difference.p));
    difference = student_difference(&alike, &alike);
    assert_true(difference.half_width == 0 && difference.p == 1);
}
