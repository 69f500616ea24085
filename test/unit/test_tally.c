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

/* Of 200 runs of a second 20 may have it by chance, of 20 000 no more than 2000 and a few. */
TEST(remarks_are_counted)
{
    const struct run_result often = {
        .energy_j = 10, .truth_j = 10, .uncertainty_j = 1, .elapsed_s = 1, .flags = RUN_ROUGH};
    const struct run_result other[] = {
        {.energy_j = 10, .truth_j = 10, .uncertainty_j = 1, .elapsed_s = 0.9, .flags = RUN_ROUGH},
        {.energy_j = 10, .truth_j = 10, .uncertainty_j = 0.4, .elapsed_s = 2, .flags = RUN_ROUGH},
        {.energy_j = 10, .truth_j = 10, .uncertainty_j = 1, .elapsed_s = 2}};
    struct figures figures;

    for (size_t i = 0; i < COUNT_OF(other); i++) {
        assert_int_equal(tally_add(&tally, &other[i]), 0);
    }
    assert_int_equal(tally_add(&tally, &often), 0);
    figures = tally_figures(&tally, "name", "what");
    assert_int_equal(figures.seconds, 3);
    assert_int_equal(figures.remarked, 1);
    assert_true(tally_is_quiet(&figures));
    figures.seconds = 20000;
    figures.remarked = 2100;
    assert_true(tally_is_quiet(&figures));
    figures.remarked = 2300;
    assert_false(tally_is_quiet(&figures));
    tally_clear(&tally);
}

/* Wilson's intervals, as tables have them. */
TEST(bounds)
{
    struct tally_bounds bounds = tally_bounds(50, 100, TALLY_95);

    assert_differs_less(bounds.least, 0.4038, 1e-4);
    assert_differs_less(bounds.greatest, 0.5962, 1e-4);
    bounds = tally_bounds(0, 10, TALLY_95);
    assert_near(bounds.least, 0);
    assert_differs_less(bounds.greatest, 0.2775, 1e-4);
    bounds = tally_bounds(10, 10, TALLY_95);
    assert_differs_less(bounds.least, 0.7225, 1e-4);
    assert_near(bounds.greatest, 1);
}

/* --- rates ----------------------------------------------------------------------------------- */

static const struct rate goal = {.covered_pct = 95, .median = 8, .unflagged_pct = 0};

static int read_rates(const char *text, struct rate_table *rates, struct apapi_error *err)
{
    static char path[256];

    snprintf(path, sizeof path, "%s", in_base("rates"));
    write_string(path, text);
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
    const struct tally_bounds bounds = tally_bounds(covered, 1000, TALLY_95);
    const struct figures figures = {.name = "walk",
                                    .runs = 1000,
                                    .known = 1000,
                                    .covered = covered,
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

ALL_TESTS_IN(make_base, remove_base)
