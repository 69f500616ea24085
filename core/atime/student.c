/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/student.h"

#include <math.h>

#define STEPS_MAX 300
#define TINY 1e-300
#define PRECISION 1e-14

/* One step of Lentz's method for a continued fraction. @return the factor of the result. */
static double student_step(double numerator, double *c, double *d)
{
    *d = 1 + numerator * *d;
    *c = 1 + numerator / *c;
    *d = 1 / (fabs(*d) < TINY ? TINY : *d);
    *c = fabs(*c) < TINY ? TINY : *c;
    return *c * *d;
}

/* The continued fraction of the incomplete beta function; converges fast for x < (a + 1) / (a + b +
 * 2). */
static double student_fraction(double a, double b, double x)
{
    double c = 1, d = 1, result;

    student_step(-(a + b) * x / (a + 1), &c, &d);
    c = 1;
    result = d;
    for (int m = 1; m <= STEPS_MAX; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        double factor;

        result *= student_step(even, &c, &d);
        factor = student_step(odd, &c, &d);
        result *= factor;
        if (fabs(factor - 1) < PRECISION) {
            break;
        }
    }
    return result;
}

/* The regularized incomplete beta function, for 0 <= x <= 1. */
static double student_beta(double a, double b, double x)
{
    double front;

    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * student_fraction(a, b, x) / a
                                     : 1 - front * student_fraction(b, a, 1 - x) / b;
}

double student_two_sided(double t, double df)
{
    return student_beta(df / 2, 0.5, df / (df + t * t));
}

double student_t95(double df)
{
    double low = 0, high = 1e6;

    for (int i = 0; i < 200 && high - low > PRECISION * high; i++) {
        double middle = (low + high) / 2;

        if (student_two_sided(middle, df) > 0.05) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double student_half_width(const struct spread *spread)
{
    double count = (double)spread->count;

    return spread->count > 1 ? student_t95(count - 1) * spread->sd / sqrt(count) : NAN;
}

struct difference student_difference(const struct spread *one, const struct spread *other)
{
    struct difference result = {NAN, NAN, NAN};
    double a, b, error, df;

    if (one->count == 0 || other->count == 0) {
        return result;
    }
    result.mean = other->mean - one->mean;
    if (one->count < 2 || other->count < 2) {
        return result;
    }
    a = one->sd * one->sd / (double)one->count;
    b = other->sd * other->sd / (double)other->count;
    error = sqrt(a + b);
    if (!(error > 0)) { /* all runs alike */
        result.half_width = 0;
        result.p = result.mean == 0 ? 1 : 0;
        return result;
    }
    df =
        (a + b) * (a + b) / (a * a / (double)(one->count - 1) + b * b / (double)(other->count - 1));
    result.half_width = student_t95(df) * error;
    result.p = student_two_sided(fabs(result.mean) / error, df);
    return result;
}
