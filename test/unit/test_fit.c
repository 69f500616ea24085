/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"
#include "measure/fit.h"
#include "unit/unit.h"

/* test/verify/regions.c tests how often uncertainties cover the errors of whole programs. */

static struct fit *new_fit(void)
{
    struct fit *fit = malloc(sizeof(*fit));

    assert_non_null(fit);
    fit_clear(fit);
    return fit;
}

/* --- three phases, and a thread that waits all the time at no power --------------------------- */

#define PHASES 3
#define WAITING (FIT_PARTS + PHASES)

/* Add an interval that has a random part of each phase; add up the phases' energies [J]. */
static void add_phases(struct fit *fit, struct random *random, double energies_j[PHASES])
{
    static const double phase_w[PHASES] = {40, 100, 160};
    double x[FIT_COLUMNS] = {[FIT_INSIDE] = 0.1}, left_s = 0.1, joules = 0;

    for (size_t i = 0; i < PHASES; i++) {
        double time_s = i + 1 < PHASES ? left_s * random_share(random) : left_s;

        x[FIT_PARTS + i] = time_s;
        left_s -= time_s;
        joules += time_s * phase_w[i];
        energies_j[i] += time_s * phase_w[i];
    }
    x[WAITING] = 0.1;
    fit_add(fit, x, NULL, WAITING + 1, joules);
}

/* The rows do not show that waiting has no power. */
TEST(a_choice_that_moves_other_powers_is_in_their_uncertainty)
{
    struct fit *fit = new_fit();
    struct random random = {8};
    struct fit_part parts[FIT_COLUMNS];
    double energies_j[PHASES] = {0};

    for (unsigned row = 0; row < 600; row++) {
        add_phases(fit, &random, energies_j);
    }
    assert_int_equal(fit_solve(fit, 0.01, parts), 0);
    for (size_t i = 0; i < PHASES; i++) {
        assert_true(fabs(parts[FIT_PARTS + i].energy_j - energies_j[i]) <=
                    parts[FIT_PARTS + i].within_j * 1.001);
    }
    assert_true(parts[FIT_PARTS + 2].within_j < 0.3 * parts[FIT_PARTS + 2].energy_j);
    assert_true(parts[WAITING].within_j >= parts[WAITING].energy_j * 0.999);
    free(fit);
}

TEST(nothing_is_known_of_no_rows)
{
    struct fit *fit = new_fit();
    struct fit_part parts[FIT_COLUMNS];

    assert_int_equal(fit_solve(fit, 0.01, parts), 0);
    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        assert_true(isnan(parts[i].energy_j) && isnan(parts[i].within_j));
    }
    free(fit);
}

/* Rows for which there is no room are added up. */
TEST(a_run_of_any_length_has_its_energies)
{
    for (unsigned count = 500; count < 20000; count += count / 2 + 7) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        struct random random = {count};
        double energy_j[2] = {0}, sum_j = 0;

        for (unsigned i = 0; i < count; i++) {
            double first = 0.1 * random_share(&random);
            const double x[] = {0, 0.1, first, 0.1 - first};

            energy_j[0] += 150 * x[2];
            energy_j[1] += 50 * x[3];
            fit_add(fit, x, NULL, COUNT_OF(x), 150 * x[2] + 50 * x[3]);
        }
        assert_int_equal(fit_solve(fit, 0.01, parts), 0);
        for (size_t i = 0; i < 2; i++) {
            double error_j = fabs(parts[FIT_PARTS + i].energy_j - energy_j[i]);

            assert_true(error_j < 0.001 * energy_j[i]);
            assert_true(error_j <= parts[FIT_PARTS + i].within_j);
            assert_true(parts[FIT_PARTS + i].within_j < 0.03 * energy_j[i]);
        }
        for (size_t i = 0; i < FIT_COLUMNS; i++) {
            sum_j += isnan(parts[i].energy_j) ? 0 : parts[i].energy_j;
        }
        assert_true(fabs(sum_j - fit->sums.y) < 1e-9 * fit->sums.y);
        free(fit);
    }
}

/* The joined column has the same result as one column from the beginning. */
TEST(a_joined_column_takes_its_past_along)
{
    struct fit *two = new_fit(), *one = new_fit();
    struct fit_part two_parts[FIT_COLUMNS], one_parts[FIT_COLUMNS];
    struct random random = {5};

    for (unsigned i = 0; i < 200; i++) {
        double a = 0.03 * random_share(&random), b = 0.03 * random_share(&random);
        const double apart[] = {0, 0.1, 0.1 - a - b, a, b};
        const double joined[] = {0, 0.1, 0.1 - a - b, a + b};
        double y = 100 * (0.1 - a - b) + 50 * (a + b) + random_between(&random, -0.1, 0.1);

        fit_add(two, apart, NULL, COUNT_OF(apart), y);
        fit_add(one, joined, NULL, COUNT_OF(joined), y);
    }
    fit_join(two, FIT_PARTS + 2, FIT_PARTS + 1);
    assert_int_equal(fit_solve(two, 0.01, two_parts), 0);
    assert_int_equal(fit_solve(one, 0.01, one_parts), 0);
    for (size_t i = FIT_PARTS; i < FIT_PARTS + 2; i++) {
        assert_true(fabs(two_parts[i].energy_j - one_parts[i].energy_j) < 1e-6);
        assert_true(fabs(two_parts[i].within_j - one_parts[i].within_j) < 1e-5);
    }
    assert_true(isnan(two_parts[FIT_PARTS + 2].energy_j));
    free(two);
    free(one);
}

/* --- intervals as they are -------------------------------------------------------------------- */

/* As docs/regions.md says: without five rows more than parts, no part gets a power of its own. */
TEST(a_part_is_told_from_others_by_five_rows_more_than_parts)
{
    for (unsigned count = 6; count <= 8; count++) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        struct random random = {1};

        for (unsigned i = 0; i < count; i++) { /* the first two parts have the same power */
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

/*
 * In intervals of 0.1 s and 240 W, a thread works for 1 ms, and once for 30 us in another part.
 * Nothing shows the power of this part: it is near the mean.
 */
TEST(a_part_of_which_nothing_is_known_has_the_mean_power)
{
    for (unsigned rows = 2; rows <= 100; rows += 98) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS], *part = &parts[FIT_PARTS + 1];
        double x[] = {0.099, 0.001, 0.001, 30e-6};

        for (unsigned row = 0; row < rows; row++) {
            fit_add(fit, x, NULL, COUNT_OF(x), 24);
            x[FIT_PARTS + 1] = 0;
        }
        assert_int_equal(fit_solve(fit, 0.1, parts), 0);
        fail_if(!(part->energy_j < 4 * 240 * 30e-6 && part->within_j > 3 * 240 * 30e-6),
                "%u rows: %g J, +- %g J", rows, part->energy_j, part->within_j);
        free(fit);
    }
}
