/* SPDX-License-Identifier: BSD-3-Clause */
/* One event's results from scripted readings. */
#include <errno.h>
#include <string.h>

#include "unit/meter_fixture.h"

static const struct apapi_event watts = {
    .name = "nvml:::gpu:power",
    .unit = "W",
    .kind = APAPI_KIND_POWER,
    .domain = APAPI_DOMAIN_GPU,
    .type = APAPI_TYPE_INT64,
    .scale = 1e-3,
};

static enum apapi_meter_step feed(struct apapi_meter *meter, uint64_t raw, uint64_t at_ns)
{
    const struct apapi_reading reading = {.raw = raw};
    double energy_j;

    return apapi_meter_add(meter, &reading, at_ns, &energy_j);
}

static enum apapi_meter_step feed_error(struct apapi_meter *meter, uint64_t at_ns)
{
    const struct apapi_reading reading = {.error = EIO};
    double energy_j;

    return apapi_meter_add(meter, &reading, at_ns, &energy_j);
}

/* 100 W for 1 s, then 200 W for 3 s: the mean is 175 W, not the 150 W of an unweighted mean. */
static void test_mean_is_weighted_by_time(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(&meter, 0, 1);
    feed(&meter, 100000000, 1 + 10 * TICK_NS);
    feed(&meter, 700000000, 1 + 40 * TICK_NS);
    finish(&meter, 40 * TICK_NS, &result);
    assert_near(result.total, 700);
    assert_near(result.summary.mean, 175);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 200);
    assert_int_equal(result.raw_total, 700000000);
    assert_int_equal(result.covered_ns, 40 * TICK_NS);
    assert_int_equal(result.incidents.samples, 2);
}

/* The last interval is as short as it happens to be: no extreme may come of it. */
static void test_short_intervals_make_no_extremes(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(&meter, 0, 1);
    feed(&meter, 10000000, 1 + TICK_NS);
    feed(&meter, 20000000, 1 + 2 * TICK_NS);
    feed(&meter, 20200000, 1 + 2 * TICK_NS + 1000000);
    finish(&meter, 2 * TICK_NS + 1000000, &result);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 100);
    assert_near(result.total, 20.2);
}

static void test_run_shorter_than_an_interval(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(&meter, 0, 1);
    feed(&meter, 1000000, 1 + TICK_NS / 10);
    finish(&meter, TICK_NS / 10, &result);
    assert_near(result.total, 1);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 100);
}

/* A failed reading costs nothing: the next one brings the energy of both intervals. */
static void test_failed_reading_is_bridged(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(&meter, 0, 1);
    feed(&meter, 10000000, 1 + TICK_NS);
    assert_int_equal(feed_error(&meter, 1 + 2 * TICK_NS), APAPI_METER_WAITING);
    assert_int_equal(feed(&meter, 30000000, 1 + 3 * TICK_NS), APAPI_METER_KNOWN);
    finish(&meter, 3 * TICK_NS, &result);
    assert_near(result.total, 30);
    assert_int_equal(result.covered_ns, 3 * TICK_NS);
    assert_int_equal(result.incidents.failed, 1);
    assert_int_equal(meter.last_error, EIO);
}

/* The power of a standstill is known when it is over: no 0 W, no peak. */
static void test_standstill_makes_no_extremes(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    for (uint64_t tick = 0; tick <= 50; tick++) {
        uint64_t shown = tick > 10 && tick < 30 ? 10 : tick;

        feed(&meter, shown * 10000000, 1 + tick * TICK_NS);
    }
    finish(&meter, 50 * TICK_NS, &result);
    assert_near(result.total, 500);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 100);
    assert_int_equal(result.incidents.stalls, 1);
}

static void test_counter_that_never_moves_is_stuck(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    for (uint64_t i = 0; i <= 20; i++) {
        feed(&meter, 7, 1 + i * TICK_NS);
    }
    finish(&meter, 20 * TICK_NS, &result);
    assert_true(result.stuck);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.mean));
}

/* At rest it may well be 0 J, of which nobody can say how wrong it is. */
static void test_estimate_may_rest(void **state)
{
    struct apapi_event estimate = fake_energy_event;
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    estimate.estimated = true;
    estimate.domain = APAPI_DOMAIN_NONE;
    apapi_meter_init(&meter, &estimate, TICK_NS, NULL);
    for (uint64_t tick = 0; tick <= 20; tick++) {
        feed(&meter, 7, 1 + tick * TICK_NS);
    }
    finish(&meter, 20 * TICK_NS, &result);
    assert_false(result.stuck);
    assert_near(result.total, 0);
    assert_near(result.summary.max, 0);
    assert_true(isnan(result.uncertainty_j));
    for (uint64_t tick = 21; tick <= 60; tick++) {
        feed(&meter, tick <= 30 ? 10000007 : 20000007, 1 + tick * TICK_NS);
    }
    finish(&meter, 60 * TICK_NS, &result);
    assert_near(result.total, 20);
    assert_near(result.summary.min, 0);
    assert_near(result.summary.max, 100);
    assert_int_equal(result.incidents.stalls, 0);
    assert_int_equal(result.covered_ns, 60 * TICK_NS);
}

static void test_nothing_read_is_unknown_not_zero(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed_error(&meter, 1);
    feed(&meter, 5, 2);
    finish(&meter, 1, &result);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.min));
    assert_false(result.stuck);
    apapi_meter_init(&meter, &watts, TICK_NS, NULL);
    finish(&meter, 1, &result);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.max));
}

/* 100 W to 300 W in 1 s, then steady for 1 s: 200 J + 300 J. */
static void test_power_is_integrated_by_trapezoid(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &watts, 10 * TICK_NS, NULL);
    feed(&meter, 100000, 1);
    feed(&meter, 300000, 1 + 10 * TICK_NS);
    feed(&meter, 300000, 1 + 20 * TICK_NS);
    finish(&meter, 20 * TICK_NS, &result);
    assert_near(result.total, 500);
    assert_near(result.summary.mean, 250);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 300);
}

static void test_negative_gauges_keep_their_extremes(void **state)
{
    const struct apapi_event celsius = {
        .unit = "C", .kind = APAPI_KIND_TEMPERATURE, .type = APAPI_TYPE_INT64, .scale = 1e-3};
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &celsius, TICK_NS, NULL);
    feed(&meter, (uint64_t)-20000, 1);
    feed(&meter, (uint64_t)-10000, 1 + TICK_NS);
    finish(&meter, TICK_NS, &result);
    assert_near(result.summary.min, -20);
    assert_near(result.summary.max, -10);
    assert_near(result.summary.mean, -15);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A counter of doubles: increments add up, a decrease begins anew, nonsense is refused. */
static void test_counters_of_doubles(void **state)
{
    struct apapi_event event = fake_energy_event;
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    event.type = APAPI_TYPE_FP64;
    event.scale = 1;
    apapi_meter_init(&meter, &event, TICK_NS, NULL);
    feed(&meter, bits_of(1000.5), 1);
    assert_int_equal(feed(&meter, bits_of(1010.75), 1 + TICK_NS), APAPI_METER_KNOWN);
    assert_int_equal(feed(&meter, bits_of(NAN), 1 + 2 * TICK_NS), APAPI_METER_WAITING);
    assert_int_equal(feed(&meter, bits_of(9e9), 1 + 3 * TICK_NS), APAPI_METER_WAITING);
    feed(&meter, bits_of(1040.5), 1 + 4 * TICK_NS);
    assert_int_equal(feed(&meter, bits_of(0), 1 + 5 * TICK_NS), APAPI_METER_BROKEN);
    feed(&meter, bits_of(10), 1 + 6 * TICK_NS);
    finish(&meter, 6 * TICK_NS, &result);
    assert_near(result.total, 50);
    assert_int_equal(result.covered_ns, 5 * TICK_NS);
    assert_int_equal(result.incidents.refused, 2);
    assert_int_equal(result.incidents.resets, 1);
}

/* Opened anew, it goes on or it does not; here it has begun anew, twice. */
static void test_counter_of_doubles_opened_anew(void **state)
{
    static const double values[] = {1000.5, 1010.5, 1020.5, 3, 13, 9e9, 9e9 + 10};
    struct apapi_event event = fake_energy_event;
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    event.type = APAPI_TYPE_FP64;
    event.scale = 1;
    apapi_meter_init(&meter, &event, TICK_NS, NULL);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (i >= 2) {
            apapi_meter_reopened(&meter);
        }
        feed(&meter, bits_of(values[i]), 1 + i * TICK_NS);
    }
    finish(&meter, 6 * TICK_NS, &result);
    assert_near(result.total, 40);
    assert_int_equal(result.covered_ns, 4 * TICK_NS);
    assert_int_equal(result.incidents.resets, 2);
    assert_int_equal(result.incidents.refused, 0);
}

/* Signed counters that go below 0 have begun anew: no 2^64 of anything. */
static void test_signed_counters(void **state)
{
    struct apapi_event event = {
        .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_INT64, .accumulates = true, .scale = 1};
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &event, TICK_NS, NULL);
    feed(&meter, (uint64_t)-10, 1);
    feed(&meter, 5, 1 + TICK_NS);
    feed(&meter, (uint64_t)-3, 1 + 2 * TICK_NS);
    feed(&meter, 4, 1 + 3 * TICK_NS);
    finish(&meter, 3 * TICK_NS, &result);
    assert_near(result.total, 15 + 7);
    assert_int_equal(result.incidents.resets, 1);
}

/* 100 W, then 300 W, by rectangle: 300 W for the whole second. */
static void test_power_by_rectangle(void **state)
{
    struct apapi_meter meter;
    struct apapi_event_result result;

    (void)state;
    apapi_meter_init(&meter, &watts, 10 * TICK_NS, NULL);
    meter.gauge.rectangle = true;
    apapi_meter_restart(&meter);
    feed(&meter, 100000, 1);
    feed(&meter, 300000, 1 + 10 * TICK_NS);
    finish(&meter, 10 * TICK_NS, &result);
    assert_near(result.total, 300);
}

static void test_types_of_raw_values(void **state)
{
    const double volts = 1.25;
    struct apapi_event event = {.scale = 2, .type = APAPI_TYPE_FP64};
    uint64_t bits;

    (void)state;
    memcpy(&bits, &volts, sizeof bits);
    assert_near(apapi_event_value(&event, bits), 2.5);
    event.type = APAPI_TYPE_INT64;
    assert_near(apapi_event_value(&event, UINT64_MAX), -2);
    event.type = APAPI_TYPE_UINT64;
    assert_near(apapi_event_value(&event, UINT64_MAX), 2 * 18446744073709551615.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean_is_weighted_by_time),
        cmocka_unit_test(test_short_intervals_make_no_extremes),
        cmocka_unit_test(test_run_shorter_than_an_interval),
        cmocka_unit_test(test_failed_reading_is_bridged),
        cmocka_unit_test(test_standstill_makes_no_extremes),
        cmocka_unit_test(test_counter_that_never_moves_is_stuck),
        cmocka_unit_test(test_estimate_may_rest),
        cmocka_unit_test(test_nothing_read_is_unknown_not_zero),
        cmocka_unit_test(test_power_is_integrated_by_trapezoid),
        cmocka_unit_test(test_negative_gauges_keep_their_extremes),
        cmocka_unit_test(test_counters_of_doubles),
        cmocka_unit_test(test_counter_of_doubles_opened_anew),
        cmocka_unit_test(test_signed_counters),
        cmocka_unit_test(test_power_by_rectangle),
        cmocka_unit_test(test_types_of_raw_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
