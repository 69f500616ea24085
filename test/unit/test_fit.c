/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"
#include "measure/fit.h"
#include "unit/unit.h"

#define RUNS 100
#define COVERED_LEAST 93 /* of 100, where 95 are meant */

static struct fit *new_fit(void)
{
    struct fit *fit = malloc(sizeof(*fit));

    assert_non_null(fit);
    fit_clear(fit);
    return fit;
}

static double sum_of(const struct fit_part parts[FIT_COLUMNS])
{
    double sum_j = 0;

    for (size_t i = 0; i < FIT_COLUMNS; i++) {
        sum_j += isnan(parts[i].energy_j) ? 0 : parts[i].energy_j;
    }
    return sum_j;
}
/* Power of parts of a program that are shorter than the time between two readings. */

#define UPDATE_S 0.001

/* A program whose phases have a power each, and a meter that shows the energy of its last update.
 */
struct course {
    struct random random;
    double now_s;
    double joules;   /* until now */
    double shown_j;  /* by the meter */
    double update_s; /* of the next one */
    double times_s[FIT_COLUMNS];
    double energies_j[FIT_COLUMNS];
};

static void course_update(struct course *course, double until_s, double power_w)
{
    while (course->update_s <= until_s) {
        course->shown_j = course->joules + power_w * (course->update_s - course->now_s);
        course->update_s += UPDATE_S;
    }
}

static void course_go(struct course *course, double until_s, size_t column, double power_w)
{
    double time_s = until_s - course->now_s;

    course_update(course, until_s, power_w);
    course->times_s[column] += time_s;
    course->times_s[FIT_INSIDE] += time_s;
    course->energies_j[column] += power_w * time_s;
    course->joules += power_w * time_s;
    course->now_s = until_s;
}

/* The increments since the last reading. */
static void read_meter(const struct course *course, struct course *before, struct fit *fit,
                       size_t columns)
{
    double x[FIT_COLUMNS];

    for (size_t i = 0; i < columns; i++) {
        x[i] = course->times_s[i] - before->times_s[i];
    }
    fit_add(fit, x, NULL, columns, course->shown_j - before->shown_j);
    *before = *course;
}

static double noise_j(const struct course *course)
{
    return course->joules / course->now_s * UPDATE_S * sqrt(1 / 6.0);
}

#define PHASES 3
static const double phase_w[PHASES] = {40, 100, 160};

/* One run: phases of 0.5 to 5 ms in random order, readings each 100 ms. */
static struct course run_phases(uint64_t seed, double length_s, struct fit *fit)
{
    struct course course = {.random = {seed}}, before;
    double end_s = 0, reading_s;
    size_t phase = 0;

    course.update_s = UPDATE_S * random_share(&course.random);
    reading_s = 0.1;
    before = course;
    while (course.now_s < length_s) {
        if (course.now_s >= end_s) {
            phase = random_below(&course.random, PHASES);
            end_s += random_between(&course.random, 0.0005, 0.005);
        }
        course_go(&course, fmin(end_s, reading_s), FIT_PARTS + phase, phase_w[phase]);
        if (course.now_s >= reading_s) {
            read_meter(&course, &before, fit, FIT_PARTS + PHASES);
            reading_s += 0.1;
        }
    }
    return course;
}

TEST(phases_shorter_than_a_reading_have_their_power)
{
    unsigned covered[PHASES] = {0};
    double worst = 0;

    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        struct course course = run_phases(seed, 60, fit);

        assert_int_equal(fit_solve(fit, noise_j(&course), parts), 0);
        for (size_t i = 0; i < PHASES; i++) {
            size_t column = FIT_PARTS + i;
            double error_j = parts[column].energy_j - course.energies_j[column];

            worst = fmax(worst, fabs(error_j) / course.energies_j[column]);
            covered[i] += fabs(error_j) <= parts[column].within_j;
            assert_int_equal(parts[column].with, column);
        }
        assert_true(fabs(sum_of(parts) - fit->sums.y) < 1e-9 * fit->sums.y);
        free(fit);
    }
    print_message("worst error %.2f %%, covered %u %u %u\n", worst * 100, covered[0], covered[1],
                  covered[2]);
    assert_true(worst < 0.03);
    for (size_t i = 0; i < PHASES; i++) {
        assert_true(covered[i] >= COVERED_LEAST * RUNS / 100);
    }
}

/* Another thread waits all the time, at no power: the rows cannot know that. */
TEST(a_choice_that_moves_other_powers_is_in_their_uncertainty)
{
    const size_t waiting = FIT_PARTS + PHASES;
    struct fit *waits = new_fit();
    struct random random = {8};
    struct fit_part parts[FIT_COLUMNS];

    for (unsigned row = 0; row < 600; row++) {
        double x[FIT_COLUMNS] = {[FIT_INSIDE] = 0.1}, left_s = 0.1, joules = 0;

        for (size_t i = 0; i < PHASES; i++) {
            x[FIT_PARTS + i] = i + 1 < PHASES ? left_s * random_share(&random) : left_s;
            left_s -= x[FIT_PARTS + i];
            joules += x[FIT_PARTS + i] * phase_w[i];
        }
        x[waiting] = 0.1;
        fit_add(waits, x, NULL, waiting + 1, joules);
    }
    assert_int_equal(fit_solve(waits, 0.01, parts), 0);
    for (size_t i = 0; i < PHASES; i++) {
        double true_j = phase_w[i] * waits->sums.x[FIT_PARTS + i];

        assert_true(fabs(parts[FIT_PARTS + i].energy_j - true_j) <=
                    parts[FIT_PARTS + i].within_j * 1.001);
    }
    assert_true(parts[FIT_PARTS + 2].within_j < 0.3 * parts[FIT_PARTS + 2].energy_j);
    assert_true(parts[waiting].within_j >= parts[waiting].energy_j * 0.999);
    free(waits);
}

/* On a busy machine threads' times are not all read in the same moment: few intervals have 5 ms too
 * much or little. */
TEST(times_that_are_late_are_in_the_uncertainty)
{
    const size_t waiting = FIT_PARTS + PHASES;
    unsigned far = 0, covered = 0, known = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct fit *waits = new_fit();
        struct random random = {seed};
        struct fit_part parts[FIT_COLUMNS];
        double true_j[PHASES] = {0}, late_s = 0;

        for (unsigned row = 0; row < 60; row++) {
            double x[FIT_COLUMNS] = {[FIT_INSIDE] = 0.1}, left_s = 0.1, joules = 0;

            for (size_t i = 0; i < PHASES; i++) {
                x[FIT_PARTS + i] = i + 1 < PHASES ? left_s * random_share(&random) : left_s;
                left_s -= x[FIT_PARTS + i];
                joules += x[FIT_PARTS + i] * phase_w[i];
                true_j[i] += x[FIT_PARTS + i] * phase_w[i];
            }
            x[waiting] = 0.1 + late_s;
            late_s = random_share(&random) < 0.05 ? 0.005 * random_share(&random) : 0;
            x[waiting] -= late_s;
            fit_add(waits, x, NULL, waiting + 1, joules + random_between(&random, -0.05, 0.05));
        }
        assert_int_equal(fit_solve(waits, 0.01, parts), 0);
        for (size_t i = 0; i < PHASES; i++) {
            double times =
                fabs(parts[FIT_PARTS + i].energy_j - true_j[i]) / parts[FIT_PARTS + i].within_j;

            known++;
            covered += times <= 1;
            far += !(times <= 1.5);
        }
        free(waits);
    }
    print_message("covered %u of %u, far %u\n", covered, known, far);
    assert_true(covered >= COVERED_LEAST * known / 100 && far == 0);
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

TEST(a_meter_that_never_counts_has_no_energy)
{
    struct fit *fit = new_fit();
    struct fit_part parts[FIT_COLUMNS];
    struct random random = {3};

    for (unsigned i = 0; i < 100; i++) {
        double first = 0.1 * random_share(&random);
        const double x[] = {0, 0.1, first, 0.1 - first}, passes[] = {0, 0, 10, 10};

        fit_add(fit, x, passes, COUNT_OF(x), 0);
    }
    assert_int_equal(fit_solve(fit, 0, parts), 0);
    for (size_t i = FIT_PARTS; i < FIT_PARTS + 2; i++) {
        assert_true(parts[i].energy_j == 0 && parts[i].within_j == 0);
    }
    free(fit);
}

/* More than there is room for are added up. */
TEST(a_run_of_any_length_has_its_energies)
{
    for (unsigned count = 500; count < 20000; count += count / 2 + 7) {
        struct fit *fit = new_fit();
        struct fit_part parts[FIT_COLUMNS];
        struct random random = {count};
        double energy_j[2] = {0};

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
        assert_true(fabs(sum_of(parts) - fit->sums.y) < 1e-9 * fit->sums.y);
        free(fit);
    }
}

/* As if it had been one column from the beginning. */
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

/* Outside, in the first part, in the second one [s], and the energy [J]. */
static void add_rows(struct fit *fit, unsigned count, const double row[4])
{
    for (unsigned i = 0; i < count; i++) {
        const double x[FIT_PARTS + 2] = {row[0], 0.1 - row[0], row[1], row[2]};

        fit_add(fit, x, NULL, FIT_PARTS + 2, row[3]);
    }
}

#define rows(fit, count, ...) add_rows(fit, count, (const double[4]){__VA_ARGS__})

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
        for (size_t i = 0; i < 2; i++) {
            covered += fabs(parts[FIT_PARTS + i].energy_j - energies_j[i]) <=
                       parts[FIT_PARTS + i].within_j;
        }
        free(fit);
    }
    print_message("covered %u of %u\n", covered, 2 * RUNS);
    assert_true(covered >= COVERED_LEAST * 2 * RUNS / 100);
}
