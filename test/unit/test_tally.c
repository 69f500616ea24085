/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of runs against a known truth, and whether that is as it is listed. */
#include "verify/tally.h"

#include "unit/near.h"
#include "unit/temporary.h"

static struct tally tally;

static void add(double energy_j, double uncertainty_j, unsigned flags)
{
    const struct run_result result = {
        .energy_j = energy_j, .truth_j = 100, .uncertainty_j = uncertainty_j, .flags = flags};

    assert_int_equal(tally_add(&tally, &result), 0);
}

TEST(runs_are_counted)
{
    struct figures figures;

    add(101, 2, 0);             /* covered */
    add(96, 1, 0);              /* wrong, and nothing says so */
    add(101.5, 1, 0);           /* not covered, but by less than 1 % */
    add(90, 2, RUN_STALL);      /* wrong, and it says so */
    add(99, 4, RUN_UNCOVERED);  /* covered */
    add(90, 2, RUN_ROUGH);      /* wrong, and it says so */
    add(NAN, NAN, RUN_UNKNOWN); /* says nothing */
    figures = tally_figures(&tally, "name", "what");
    assert_int_equal(figures.runs, 7);
    assert_int_equal(figures.known, 6);
    assert_near(figures.covered_pct, 100.0 / 3);
    assert_near(figures.worst, 5);
    assert_near(figures.median, 1 / 1.5);
    assert_int_equal(figures.unflagged, 1);
    assert_int_equal(figures.rough, 1);
    assert_string_equal(figures.name, "name");
    tally_clear(&tally);
}

TEST(nothing_is_known_of_no_runs)
{
    struct figures figures = tally_figures(&tally, "", "");

    assert_near(figures.covered_pct, NAN);
    assert_near(figures.worst, NAN);
    assert_near(figures.median, NAN);
    assert_near(figures.least_pct, 0);
    assert_near(figures.greatest_pct, 100);
}

TEST(a_sum_has_all_runs)
{
    struct tally sum = {0};
    struct figures figures;

    add(101, 2, 0);
    assert_int_equal(tally_join(&sum, &tally), 0);
    tally_clear(&tally);
    assert_int_equal(tally_join(&sum, &tally), 0);
    add(110, 5, 0);
    add(100, 5, 0);
    assert_int_equal(tally_join(&sum, &tally), 0);
    figures = tally_figures(&sum, "", "");
    assert_int_equal(figures.runs, 3);
    assert_near(figures.worst, 2);
    assert_near(figures.median, 2);
    assert_int_equal(figures.unflagged, 1);
    tally_clear(&sum);
    tally_clear(&tally);
}

TEST(bounds_of_a_median)
{
    struct figures figures;

    for (int i = 1; i <= 100; i++) {
        add(101, i, 0);
    }
    figures = tally_figures(&tally, "", "");
    assert_near(figures.median, 51);
    assert_near(figures.median_least, 41); /* the ranks 40 to 60 of 100 */
    assert_near(figures.median_greatest, 60);
    tally_clear(&tally);
    add(101, 3, 0);
    figures = tally_figures(&tally, "", "");
    assert_near(figures.median_least, 3);
    assert_near(figures.median_greatest, 3);
    tally_clear(&tally);
}

/* Wilson's intervals, as tables have them. */
TEST(bounds)
{
    struct tally_bounds bounds = tally_bounds(50, 100);

    assert_differs_less(bounds.least, 0.4038, 1e-4);
    assert_differs_less(bounds.greatest, 0.5962, 1e-4);
    bounds = tally_bounds(0, 10);
    assert_near(bounds.least, 0);
    assert_differs_less(bounds.greatest, 0.2775, 1e-4);
    bounds = tally_bounds(10, 10);
    assert_differs_less(bounds.least, 0.7225, 1e-4);
    assert_near(bounds.greatest, 1);
}

/* --- rates ----------------------------------------------------------------------------------- */

static const struct rate goal = {.covered_pct = 95, .median = 8, .unflagged_pct = 0};

static int read_rates(const char *text, struct rate_table *rates, struct apapi_error *err)
{
    static char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s", in_base("rates"));
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return rate_table_read(rates, path, err);
}

static struct rate_table rates_of(const char *text)
{
    struct rate_table rates;
    struct apapi_error err = {""};

    if (read_rates(text, &rates, &err)) {
        fail_msg("%s", err.text);
    }
    return rates;
}

static uint64_t rough = 500;

static bool is_as_listed(const char *row, uint64_t covered, double median, uint64_t unflagged)
{
    const struct rate_table rates = rates_of(row);
    const struct tally_bounds bounds = tally_bounds(covered, 1000);
    const struct figures figures = {.name = "walk",
                                    .runs = 1000,
                                    .known = 1000,
                                    .covered_pct = (double)covered / 10,
                                    .least_pct = 100 * bounds.least,
                                    .greatest_pct = 100 * bounds.greatest,
                                    .median = median,
                                    .median_least = 0.9 * median,
                                    .median_greatest = 1.1 * median,
                                    .unflagged = unflagged,
                                    .rough = rough};

    return rate_table_compare(&rates, &figures, &goal);
}

TEST(what_is_worse_than_listed)
{
    assert_true(is_as_listed("walk 95 8 0 50", 945, 8, 0));
    assert_true(is_as_listed("walk 95 8 0 50", 1000, 2, 0));
    assert_false(is_as_listed("walk 95 8 0 50", 900, 8, 0));
    assert_true(is_as_listed("walk 95 8 0 50", 960, 8.8, 0));
    assert_false(is_as_listed("walk 95 8 0 50", 960, 9, 0));
    assert_false(is_as_listed("walk 95 8 0 50", 960, 8, 1));
    assert_false(is_as_listed("bursts 95 8 0 50", 960, 8, 0));
}

TEST(a_flag_that_is_raised_too_often)
{
    rough = 520;
    assert_true(is_as_listed("walk 95 8 0 50", 960, 8, 0));
    rough = 540;
    assert_false(is_as_listed("walk 95 8 0 50", 960, 8, 0));
    rough = 500;
}

TEST(a_shortfall_that_has_been_mended)
{
    assert_true(is_as_listed("walk 80 12 2 50", 810, 9, 15));
    assert_false(is_as_listed("walk 80 12 2 50", 850, 9, 15));
    assert_true(is_as_listed("walk 80 12 2 50", 810, 7.5, 15));
    assert_false(is_as_listed("walk 80 12 2 50", 810, 7, 15));
    assert_false(is_as_listed("walk 80 12 2 50", 810, 9, 2));
}

TEST(a_table_of_rates)
{
    static const char *const bad[] = {"walk 95 8 0", "walk 95 8 0 0 0", "walk x 8 0 0",
                                      "walk 95 -8 0 0"};
    const struct rate_table good = rates_of("# comment\n\n  a\t95 8 0 50\nb 80.5 9.5 1.5 7.5\n");

    assert_int_equal(good.count, 2);
    assert_string_equal(good.rows[1].name, "b");
    assert_near(good.rows[1].covered_pct, 80.5);
    assert_near(good.rows[1].median, 9.5);
    assert_near(good.rows[1].unflagged_pct, 1.5);
    assert_near(good.rows[1].rough_pct, 7.5);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rate_table rates;
        struct apapi_error err = {""};
        char text[80];

        snprintf(text, sizeof text, "\n%s\n", bad[i]);
        assert_int_equal(read_rates(text, &rates, &err), -1);
        assert_int_equal(errno, EINVAL);
        assert_non_null(strstr(err.text, ":2: expected the name of an ensemble"));
    }
}

ALL_TESTS_IN(make_base, remove_base)
