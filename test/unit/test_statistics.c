/* SPDX-License-Identifier: BSD-3-Clause */
/* Percentiles, periods and uncertainty against plainly computed truths. */
#include "fake/energy_event.h"
#include "measure/rate.h"
#include "measure/result.h"
#include "unit/near.h"

#define TICK_NS UINT64_C(100000000)

static struct apapi_histogram histogram;

TEST(period)
{
    struct apapi_period_meter meter = {0};
    struct apapi_period period = apapi_period_result(&meter);

    assert_true(isnan(period.mean_s) && isnan(period.sd_s) && isnan(period.longest_s));
    apapi_period_add(&meter, 1000000000);
    apapi_period_add(&meter, 2000000000);
    assert_true(isnan(apapi_period_result(&meter).sd_s));
    apapi_period_add(&meter, 5000000000);
    apapi_period_add(&meter, 7000000000);
    period = apapi_period_result(&meter);
    assert_int_equal(period.count, 3);
    assert_within(period.mean_s, 2, 1e-12);
    assert_within(period.sd_s, 1, 1e-12);
    assert_within(period.longest_s, 3, 1e-12);
}

/* 100 W, and a last reading that is late: it may have been fetched at any time while it lasted. */
TEST(uncertainty_of_a_late_end)
{
    static const struct {
        uint64_t begin_ms, end_ms, span_end_ms;
        double uncertainty_j;
    } cases[] = {
        {2000, 2000, 2000, 0.1}, {1960, 2000, 2000, 4.1}, {2020, 2020, 2000, 2.1},
        {2010, 2040, 2000, 4.1}, {1970, 2010, 2000, 3.1}, {1990, 2030, 2000, 3.1},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct apapi_span span = {.elapsed_ns = cases[i].span_end_ms * 1000000,
                                        .end_ns = 1 + cases[i].span_end_ms * 1000000};
        struct apapi_moment when = {1 + cases[i].begin_ms * 1000000, 1 + cases[i].end_ms * 1000000};
        struct apapi_reading reading = {.raw = 0};
        struct apapi_event_result result;
        struct apapi_meter meter;
        double energy_j;

        apapi_meter_init(&meter, &fake_energy_event, TICK_NS, &histogram);
        apapi_meter_add(&meter, &reading, moment_at(1), &energy_j);
        reading.raw = 200000000;
        apapi_meter_add(&meter, &reading, when, &energy_j);
        apapi_meter_finish(&meter, &span, &result);
        /* at least; and a little more, as the energy is divided by the time that is covered */
        assert_within(result.uncertainty_j / result.summary.mean * 100,
                      1.011 * cases[i].uncertainty_j, 0.012);
    }
}

static const uint64_t ms_ns = 1000000;

/* A reading of a counter of microjoules that lasts from `begin_ms` to `end_ms`. */
static void add_slow(struct apapi_meter *meter, uint64_t begin_ms, uint64_t end_ms, uint64_t uj)
{
    const struct apapi_moment when = {1 + begin_ms * ms_ns, 1 + end_ms * ms_ns};
    const struct apapi_reading reading = {.raw = uj};
    double energy_j;

    apapi_meter_add(meter, &reading, when, &energy_j);
}

static void finish_at(struct apapi_meter *meter, uint64_t end_ms, struct apapi_summary *summary)
{
    const struct apapi_span span = {.elapsed_ns = end_ms * ms_ns};
    struct apapi_event_result result;

    apapi_meter_finish(meter, &span, &result);
    *summary = result.summary;
}

/* 100 W, and a source that is opened again: its first reading ends late, and covers nothing. */
TEST(a_late_end_that_begins_again_covers_nothing)
{
    const struct apapi_span span = {.elapsed_ns = 200 * ms_ns, .end_ns = 1 + 200 * ms_ns};
    struct apapi_event_result result;
    struct apapi_meter meter;

    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, &histogram);
    add_slow(&meter, 0, 0, 10000000);
    add_slow(&meter, 100, 100, 20000000);
    apapi_meter_reopened(&meter);
    add_slow(&meter, 190, 230, 0);
    apapi_meter_finish(&meter, &span, &result);
    assert_within(result.total, 10, 1e-9);
    assert_int_equal(result.covered_ns, 100 * ms_ns);
}

/* Any power, readings at any time and of any length, a counter that rests now and then. */
static void add_random(struct apapi_meter *meter, uint64_t *end_ms)
{
    uint64_t uj = 1000000;

    for (long i = lrand48() % 30; i >= 0; i--) {
        uint64_t begin_ms = *end_ms + 1 + (uint64_t)lrand48() % 150;

        *end_ms = begin_ms + (uint64_t)lrand48() % 10;
        uj += lrand48() % 4 ? (uint64_t)lrand48() % 300000 * (uint64_t)(lrand48() % 20) : 0;
        add_slow(meter, begin_ms, *end_ms, uj);
    }
}

TEST(mean_is_between_the_extremes_whatever_happens)
{
    struct apapi_meter meter;
    struct apapi_summary summary;

    srand48(19);
    for (int history = 0; history < 10000; history++) {
        uint64_t end_ms = 0;

        apapi_meter_init(&meter, &fake_energy_event, TICK_NS, &histogram);
        add_random(&meter, &end_ms);
        finish_at(&meter, end_ms, &summary);
        if (summary.mean < summary.min * (1 - 1e-12) || summary.mean > summary.max * (1 + 1e-12)) {
            fail_msg("history %d: mean %g is not in %g to %g", history, summary.mean, summary.min,
                     summary.max);
        }
    }
}
