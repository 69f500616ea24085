/* SPDX-License-Identifier: BSD-3-Clause */
/* When regions had their time, and their share of the energy then. */
#include "regions/observe/observer.h"
#include "unit/unit.h"

#define MS UINT64_C(1000000)
#define ORIGIN (7 * MS)

enum { SOLVE = FIT_PARTS + 2, OUTPUT };

static struct bands bands;

static void add(size_t column, uint64_t from_ns, uint64_t to_ns, double time_s)
{
    bands_span(&bands, from_ns, to_ns);
    bands_add(&bands, column, time_s);
}

static double time_of(size_t column)
{
    double sum_s = 0;

    for (size_t i = 0; i < APAPI_REGION_BINS; i++) {
        sum_s += (double)bands.time_s[i][column];
    }
    return sum_s;
}

TEST(bins_of_a_long_run_are_joined)
{
    bands_begin(&bands, ORIGIN);
    for (uint64_t s = 0; s < 100; s++) {
        add(s % 10 < 5 ? SOLVE : OUTPUT, ORIGIN + s * 1000 * MS, ORIGIN + (s + 1) * 1000 * MS, 1);
    }
    assert_int_equal(bands.bin_ns, 3200 * MS);
    assert_true(fabs(time_of(SOLVE) - 50) < 1e-3 && fabs(time_of(OUTPUT) - 50) < 1e-3);
    assert_true(fabs((double)bands.time_s[0][SOLVE] - 3.2) < 1e-4);
    assert_true((double)bands.time_s[0][OUTPUT] == 0);
    add(SOLVE, ORIGIN, ORIGIN + (UINT64_C(1) << 62), 1); /* 146 years */
    assert_true(fabs(time_of(SOLVE) - 51) < 1e-3);
}

TEST(a_share_is_of_the_energy_of_the_bin)
{
    double power_w[FIT_COLUMNS] = {[FIT_OUTSIDE] = 50, [SOLVE] = 100, [OUTPUT] = 20};
    double sum_j[APAPI_REGION_BINS];
    struct apapi_region_result region = {.bins = 9};

    bands_begin(&bands, ORIGIN);
    add(SOLVE, ORIGIN, ORIGIN + 50 * MS, 0.05);
    add(FIT_OUTSIDE, ORIGIN + 50 * MS, ORIGIN + 100 * MS, 0.05);
    add(SOLVE, ORIGIN + 100 * MS, ORIGIN + 150 * MS, 0.02);
    add(OUTPUT, ORIGIN + 100 * MS, ORIGIN + 150 * MS, 0.03);
    add(OUTPUT, ORIGIN + 150 * MS, ORIGIN + 200 * MS, 0.05);
    bands_sum(&bands, power_w, sum_j);
    bands_share(&bands, SOLVE, power_w[SOLVE], sum_j, &region);
    assert_int_equal(region.bin_ns, 50 * MS);
    assert_int_equal(region.bins, 3); /* none after these */
    assert_int_equal(region.share_pct[0], 100);
    assert_int_equal(region.share_pct[1], 0);
    assert_int_equal(region.share_pct[2], 77); /* 2 J of 2.6 J */
    bands_share(&bands, OUTPUT, 0, sum_j, &region);
    assert_int_equal(region.bins, 0);
}
