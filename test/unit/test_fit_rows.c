/* SPDX-License-Identifier: BSD-3-Clause */
/* Power of parts of a program, from intervals as they are: what is idle, alone, drifting or without
 * power. */
#include "unit/fit_fixture.h"

/* Outside, in the first part, in the second one [s], and the energy [J]. */
static void add_rows(struct fit *fit, unsigned count, const double row[4])
{
    for (unsigned i = 0; i < count; i++) {
        const double x[FIT_PARTS + 2] = {row[0], 0.1 - row[0], row[1], row[2]};

        fit_add(fit, x, NULL, FIT_PARTS + 2, row[3]);
    }
}

#define rows(fit, count, ...) add_rows(fit, count, (const double[4]){__VA_ARGS__})

/* Of a region that has its intervals for itself nothing is estimated, however its power varies. */
TEST(what_is_alone_is_measured)
{
    struct fit *fit = new_fit();
    struct fit_part parts[FIT_COLUMNS];

    for (unsigned i = 0; i < 100; i++) {
        rows(fit, 1, 0, 0.1, 0, 5 + 0.1 * i);
    }
    rows(fit, 100, 0, 0, 0.1, 20);
    assert_int_equal(fit_solve(fit, 0.01, parts), 0);
    assert_true(fabs(parts[FIT_PARTS].energy_j - 995) < 1e-9);
    assert_true(fabs(parts[FIT_PARTS + 1].energy_j - 2000) < 1e-9);
    assert_true(parts[FIT_PARTS].pure == 1 && parts[FIT_PARTS + 1].pure == 1);
    assert_true(parts[FIT_PARTS].within_j < 0.1);
    free(fit);
}

/* Before the program and after it. */
TEST(time_without_threads_is_idle)
{
    struct fit *fit = new_fit();
    struct fit_part parts[FIT_COLUMNS];

    rows(fit, 20, 0.1, 0, 0, 3);
    rows(fit, 1, 0.05, 0.05, 0, 6.5);
    for (unsigned i = 1; i < 60; i++) {
        rows(fit, 1, 0, 0.001 * i, 0.1 - 0.001 * i, 0.1 * i + 0.4 * (100 - i));
    }
    assert_int_equal(fit_solve(fit, 0.01, parts), 0);
    assert_true(fabs(parts[FIT_OUTSIDE].energy_j - 61.5) < 0.5);
    assert_true(isnan(parts[FIT_INSIDE].energy_j));
    assert_true(fabs(parts[FIT_PARTS].energy_j / fit->sums.x[FIT_PARTS] - 100) < 2);
    assert_true(fabs(parts[FIT_PARTS + 1].energy_j / fit->sums.x[FIT_PARTS + 1] - 400) < 2);
    free(fit);
}

/* Slow changes: successive rows err alike. */
TEST(drifting_powers_are_covered)
{
    unsigned covered = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct random random = {seed};
        double drift = 0, energies_j[2] = {0};
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];

        for (unsigned i = 0; i < 600; i++) {
            double share = random_share(&random);
            double first_j = 0.1 * share * 100, second_j;

            drift = 0.95 * drift + random_between(&random, -3, 3);
            second_j = 0.1 * (1 - share) * (150 + drift);
            rows(fit, 1, 0, 0.1 * share, 0.1 * (1 - share), first_j + second_j);
            energies_j[0] += first_j;
            energies_j[1] += second_j;
        }
        assert_int_equal(fit_solve(fit, 0.01, parts), 0);
        for (size_t i = 0; i < 2; i++) {
            covered += fabs(parts[FIT_PARTS + i].energy_j - energies_j[i]) <=
                       parts[FIT_PARTS + i].within_j;
        }
        free(fit);
    }
    print_message("covered %u of %u\n", covered, 2 * RUNS);
    assert_true(covered >= COVERED_LEAST * 2 * RUNS / 100);
}

/* As docs/regions.md says: with fewer than five rows more than parts, no part has a power alone. */
TEST(a_part_is_told_from_others_by_five_rows_more_than_parts)
{
    for (unsigned count = 6; count <= 8; count++) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        struct random random = {1};

        for (unsigned i = 0; i < count; i++) { /* the two least ones have the same power */
            double x[] = {0.001, 0.099, 0.1 * random_share(&random), 0.1 * random_share(&random),
                          random_share(&random)};

            fit_add(fit, x, NULL, 5, 50 * x[2] + 50 * x[3] + 20 * x[4]);
        }
        assert_int_equal(fit_solve(fit, 0.001, parts), 0);
        for (size_t i = FIT_PARTS; i < FIT_PARTS + 3; i++) {
            assert_true(count == 8 || parts[i].with != i);
        }
        assert_true(count < 8 || parts[FIT_PARTS + 2].with == FIT_PARTS + 2);
        free(fit);
    }
}

/* Two parts that are nearly always together have as good as no power beside what does not depend on
 * them.
 */
TEST(parts_without_power_are_as_sure_as_what_they_are_told_from)
{
    unsigned covered = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct random random = {seed};
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        double energies_j[2] = {0};

        for (unsigned i = 0; i < 60; i++) {
            double threads = 1 + i % 4, error_j = random_between(&random, -1, 1);
            double first_s = threads * random_between(&random, 0.0795, 0.0805);

            rows(fit, 1, 0, first_s, 0.1 * threads - first_s, 20 + 0.02 * threads + error_j);
            energies_j[0] += 0.2 * first_s;
            energies_j[1] += 0.2 * (0.1 * threads - first_s);
        }
        assert_int_equal(fit_solve(fit, 0.01, parts), 0);
        assert_int_equal(parts[FIT_PARTS].with, FIT_PARTS + 1);
        for (size_t i = 0; i < 2; i++) {
            covered += fabs(parts[FIT_PARTS + i].energy_j - energies_j[i]) <=
                       parts[FIT_PARTS + i].within_j;
        }
        free(fit);
    }
    print_message("covered %u of %u\n", covered, 2 * RUNS);
    assert_true(covered >= COVERED_LEAST * 2 * RUNS / 100);
}
