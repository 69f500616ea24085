/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the integral of a gauge may be from the truth. */
#include "base/random.h"
#include "measure/meter.h"
#include "unit/near.h"

#define MS UINT64_C(1000000)
#define START_NS (1000 * MS)
#define STEP_NS (100 * MS)
#define STEP_S 0.1

static struct apapi_gauge gauge;

static void begin(void)
{
    memset(&gauge, 0, sizeof gauge);
    apapi_gauge_restart(&gauge);
}

/* n equal steps leave 1 - exp(-3 / n) of the time unseen: bursts of MOST, or pauses. */
#define MOST 1000.0

static double unseen(double mean, double steps)
{
    return fmax(MOST - mean, mean) * -expm1(-3 / steps) * steps * STEP_S;
}

static double uncertainty(void)
{
    return apapi_gauge_uncertainty(&gauge, MOST);
}

#define PREPARED(name) TEST_WITH(name, begin, NULL)

/* Readings close to each other count for less than as many at equal distances. */
PREPARED(unequal_steps_see_less)
{
    double steps = 101 * 101 / (100 + 100 * 0.01 * 0.01);

    for (uint64_t i = 0; i <= 100; i++) {
        apapi_gauge_add(&gauge, 250.1, START_NS + i * STEP_NS / 100);
    }
    for (uint64_t i = 1; i <= 100; i++) {
        apapi_gauge_add(&gauge, 250.1, START_NS + STEP_NS + i * STEP_NS);
    }
    assert_within(uncertainty(), (MOST - 250.1) * -expm1(-3 / steps) * 101 * STEP_S, 1e-9);
}

static void add(double value, uint64_t step)
{
    apapi_gauge_add(&gauge, value, START_NS + step * STEP_NS);
}

/* Each reading is 200 W off the line between its neighbours. */
PREPARED(alternating)
{
    const double deviations = 100, each_j = 200 * STEP_S;
    double deviation_j, missed_j;

    for (uint64_t i = 0; i <= 101; i++) {
        apapi_gauge_add(&gauge, i % 2 ? 300 : 100, START_NS + i * STEP_NS);
    }
    deviation_j = 1.03 * each_j * sqrt(deviations / 1.5);
    assert_within(uncertainty(), hypot(3 * deviation_j, unseen(200, 101)), 1e-9);
    missed_j = (MOST - 200) * -expm1(-14 / 101.0) * 101 * STEP_S;
    assert_within(apapi_gauge_bound(&gauge, MOST), 5 * deviation_j + missed_j, 1e-9);
}

/* If the value is always of the beginning of a reading, the whole course comes so much late. */
PREPARED(a_long_reading_moves_the_course)
{
    for (uint64_t step = 0; step <= 100; step++) {
        gauge.length_ns = step == 50 ? STEP_NS / 4 : STEP_NS / 100;
        add(100 + (double)step, step);
    }
    assert_within(uncertainty(), 100 * STEP_S / 4 + unseen(150, 100), 1e-9);
}

PREPARED(no_line_across_a_failure)
{
    for (uint64_t step = 0; step < 3; step++) {
        add(100, step);
    }
    apapi_gauge_failed(&gauge);
    for (uint64_t step = 4; step < 7; step++) {
        add(300, step);
    }
    add(NAN, 7);
    for (uint64_t step = 8; step < 11; step++) {
        add(500, step);
    }
    assert_int_equal(gauge.deviations, 3);
    assert_within(uncertainty(), unseen(300, 6), 1e-9);
}

/* A square wave that is read at random moments: the share of runs that it is farther off. */
static unsigned runs_outside(double duty, int readings, int runs)
{
    struct random random = {42};
    unsigned outside = 0;

    for (int run = 0; run < runs; run++) {
        double truth = duty * 400 * STEP_S * readings;

        begin();
        for (int i = 0; i <= readings; i++) {
            double value = random_share(&random) < duty ? 400 : 0;

            apapi_gauge_add(&gauge, value, START_NS + (uint64_t)i * STEP_NS);
        }
        outside += fabs(gauge.integral - truth) > apapi_gauge_uncertainty(&gauge, 400);
    }
    return outside;
}

TEST(covers_a_square_wave_at_random_moments)
{
    assert_in_range(runs_outside(0.5, 10, 2000), 0, 100);
    assert_in_range(runs_outside(0.5, 100, 2000), 1, 100);
    assert_in_range(runs_outside(0.3, 1000, 2000), 1, 100);
}
