/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings that only the sums know, and the look at a counter after its last one. */
#include <string.h>

#include "unit/meter_fixture.h"

static const struct apapi_event watts = {.unit = "W",
                                         .kind = APAPI_KIND_POWER,
                                         .domain = APAPI_DOMAIN_GPU,
                                         .type = APAPI_TYPE_INT64,
                                         .scale = 1e-3};

static struct apapi_meter meter;
static struct apapi_histogram histogram;
static struct apapi_event_result result;
static double energy_j;

static void begin(const struct apapi_event *event)
{
    apapi_meter_init(&meter, event, TICK_NS, &histogram);
}

static enum apapi_meter_step shown(uint64_t at_ms, uint64_t raw)
{
    const struct apapi_reading reading = {raw, 0};

    return apapi_meter_add(&meter, &reading, moment_at(at_ms * MS), &energy_j);
}

static void unshown(uint64_t at_ms, uint64_t raw)
{
    const struct apapi_reading reading = {raw, 0};

    apapi_meter_add(&meter, &reading, moment_at(at_ms * MS), NULL);
}

/* 2 kW for a millisecond after 64, else 100 W: nobody sees more than the mean of 100 ms. */
TEST(a_counter_shows_windows_of_shown_readings)
{
    begin(&fake_energy_event);
    shown(0, 0);
    unshown(1, 100000);
    unshown(64, 6400000);
    unshown(65, 8400000);
    assert_true(isnan(meter.value)); /* as after the first one */
    assert_int_equal(meter.known_ns, 0);
    assert_near(apapi_meter_total(&meter), 8.4);
    assert_int_equal(shown(100, 11900000), APAPI_METER_KNOWN);
    assert_near(energy_j, 11.9);
    assert_near(meter.value, 11.9);
    assert_int_equal(meter.known_ns, 100 * MS);
    shown(200, 21900000);
    finish(&meter, 200 * MS, &result);
    assert_int_equal(result.incidents.samples, 5);
    assert_near(result.total, 21.9);
    assert_near(result.summary.max, 119);
    assert_near(result.summary.min, 100);
    assert_near(result.values[0].max * 1e-6, 11.9);
}

/* The integral has them; the extremes have the mean of the time between two that are shown. */
TEST(a_gauge)
{
    begin(&watts);
    shown(0, 100000);
    unshown(10, 300000);
    unshown(20, 100000);
    assert_int_equal(shown(100, 100000), APAPI_METER_KNOWN);
    assert_near(energy_j, 12);
    finish(&meter, 100 * MS, &result);
    assert_near(result.total, 12);
    assert_near(result.summary.min, 100);
    assert_near(result.summary.max, 120);
    assert_near(result.summary.mean, 120);
}

/* Its extremes are that value: no error of a sum is in them, which JSON would round away from it.
 */
TEST(a_constant_gauge)
{
    for (uint64_t raw = 200000; raw <= 200020; raw++) {
        begin(&watts);
        for (uint64_t ms = 0; ms <= 70; ms += 7) {
            shown(ms, raw);
        }
        finish(&meter, 70 * MS, &result);
        assert_true(result.summary.min == apapi_event_value(&watts, raw));
        assert_true(result.summary.max == apapi_event_value(&watts, raw));
    }
}

/* A snapshot may be taken before the next one is shown. */
TEST(a_gauge_that_nobody_has_seen)
{
    begin(&watts);
    shown(0, 100000);
    unshown(10, 300000);
    finish(&meter, 10 * MS, &result);
    assert_near(result.summary.mean, 200);
    assert_near(result.summary.max, 200);
    assert_near(result.summary.min, 100);
}

/* --- the look after the last reading --------------------------------------------------------- */

static bool check_at(uint64_t at_us, uint64_t raw)
{
    const struct apapi_reading reading = {raw, 0};

    return apapi_meter_check(&meter, &reading, moment_at(at_us * 1000));
}

/* 100 W until 1 s, in 12 readings; the last one counts `last_uj`. */
static void second_of(const struct apapi_event *event, uint64_t last_uj)
{
    begin(event);
    for (uint64_t tick = 0; tick < 10; tick++) {
        shown(tick * 100, tick * 10000000);
    }
    shown(1000, 90000000 + last_uj);
}

static void end(void)
{
    finish(&meter, 1000 * MS, &result);
}

/* Few readings, and the last one counts less than all before: it lives, so that is how it is. */
TEST(a_counter_that_lives)
{
    second_of(&fake_energy_event, 5000000);
    assert_int_equal(apapi_meter_check_ns(&meter), MS);
    assert_false(check_at(1001000, 95100000));
    end();
    assert_near(result.total, 95);
    assert_int_equal(result.covered_ns, 1000 * MS);
    assert_true(result.uncertainty_j < 0.11);
}

/* It has stopped, but nobody knows where in the last interval. */
TEST(a_counter_that_has_stopped)
{
    second_of(&fake_energy_event, 5000000);
    assert_true(check_at(1001000, 95000000));
    assert_false(check_at(1002000, 95000000));
    end();
    assert_near(result.total, 95);
    assert_int_equal(result.covered_ns, 900 * MS);
    assert_true(result.uncertainty_j > 10);
    assert_int_equal(result.incidents.rough, 1);
    finish(&meter, 1000 * MS, &result); /* another time */
    assert_int_equal(result.covered_ns, 900 * MS);
}

TEST(a_counter_that_is_late)
{
    second_of(&fake_energy_event, 10000000);
    assert_true(check_at(1001000, 100000000));
    assert_false(check_at(1002000, 100200000));
    end();
    assert_int_equal(result.covered_ns, 1000 * MS);
    assert_true(result.uncertainty_j < 0.11);
}

static const struct {
    const char *what;
    struct apapi_event event;
    uint64_t check_ns;
} worth[] = {
    {"RAPL", {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1e-6, .update_ns = MS}, MS},
    {"faster",
     {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1e-6, .update_ns = 61000},
     61000},
    {"nobody knows", {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1e-6}, MS},
    {"a GPU",
     {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1e-6, .update_ns = 20 * MS},
     0},
    {"an estimate",
     {.kind = APAPI_KIND_ENERGY,
      .accumulates = true,
      .scale = 1,
      .update_ns = MS,
      .estimated = true},
     0},
    {"a count", {.kind = APAPI_KIND_COUNT, .accumulates = true, .scale = 1, .update_ns = MS}, 0},
    {"a gauge", {.kind = APAPI_KIND_POWER, .scale = 1, .update_ns = MS}, 0},
};

TEST(counters_that_move_soon_are_worth_a_look)
{
    for (size_t i = 0; i < COUNT_OF(worth); i++) {
        begin(&worth[i].event);
        if (apapi_meter_check_ns(&meter) != worth[i].check_ns) {
            fail_msg("%s: after %lu ns", worth[i].what,
                     (unsigned long)apapi_meter_check_ns(&meter));
        }
    }
}
