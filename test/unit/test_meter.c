/* SPDX-License-Identifier: BSD-3-Clause */
/* One event's results from scripted readings. */
#include "unit/meter_fixture.h"

static const struct apapi_event watts = {
    .name = "nvml:::gpu:power",
    .unit = "W",
    .kind = APAPI_KIND_POWER,
    .domain = APAPI_DOMAIN_GPU,
    .type = APAPI_TYPE_INT64,
    .scale = 1e-3,
};

static const struct apapi_event celsius = {
    .unit = "C", .kind = APAPI_KIND_TEMPERATURE, .type = APAPI_TYPE_INT64, .scale = 1e-3};

static const struct apapi_event steps = {
    .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_INT64, .accumulates = true, .scale = 1};

#define READINGS 4

struct row {
    const char *what;
    const struct apapi_event *event;
    uint64_t interval_ns;
    bool rectangle;
    struct {
        uint64_t at_ms, raw;
    } readings[READINGS]; /* the first at 0 ms, no other */
    double total;
    struct apapi_summary summary;
    uint64_t covered_ms, samples, resets;
};

static const struct row rows[] = {
    {.what = "100 W for 1 s, then 200 W for 3 s: the mean is 175 W, not the 150 W of an unweighted "
             "mean",
     .event = &fake_energy_event,
     .interval_ns = TICK_NS,
     .readings = {{0, 0}, {1000, 100000000}, {4000, 700000000}},
     .total = 700,
     .summary = {.min = 100, .mean = 175, .max = 200},
     .covered_ms = 4000,
     .samples = 2},
    {.what = "the last interval is as short as it happens to be: it belongs to the one before it",
     .event = &fake_energy_event,
     .interval_ns = TICK_NS,
     .readings = {{0, 0}, {100, 10000000}, {200, 20000000}, {201, 20200000}},
     .total = 20.2,
     .summary = {.min = 100, .mean = 20.2 / 0.201, .max = 10.2 / 0.101},
     .covered_ms = 201,
     .samples = 3},
    {.what = "a run shorter than an interval",
     .event = &fake_energy_event,
     .interval_ns = TICK_NS,
     .readings = {{0, 0}, {10, 1000000}},
     .total = 1,
     .summary = {.min = 100, .mean = 100, .max = 100},
     .covered_ms = 10,
     .samples = 1},
    {.what = "power by trapezoid: 100 W to 300 W in 1 s, then steady for 1 s: 200 J + 300 J",
     .event = &watts,
     .interval_ns = 10 * TICK_NS,
     .readings = {{0, 100000}, {1000, 300000}, {2000, 300000}},
     .total = 500,
     .summary = {.min = 100, .mean = 250, .max = 300},
     .covered_ms = 2000,
     .samples = 2},
    {.what = "power by rectangle: 300 W for the whole second",
     .event = &watts,
     .interval_ns = 10 * TICK_NS,
     .rectangle = true,
     .readings = {{0, 100000}, {1000, 300000}},
     .total = 300,
     .summary = {.min = 100, .mean = 300, .max = 300},
     .covered_ms = 1000,
     .samples = 1},
    {.what = "negative gauges keep their extremes",
     .event = &celsius,
     .interval_ns = TICK_NS,
     .readings = {{0, (uint64_t)-20000}, {100, (uint64_t)-10000}},
     .total = NAN,
     .summary = {.min = -20, .mean = -15, .max = -10},
     .covered_ms = 100,
     .samples = 1},
    {.what = "signed counters that go below 0 have started again: no 2^64 of anything",
     .event = &steps,
     .interval_ns = TICK_NS,
     .readings = {{0, (uint64_t)-10}, {100, 5}, {200, (uint64_t)-3}, {300, 4}},
     .total = 15 + 7,
     .summary = {.min = 70, .mean = 110, .max = 150},
     .covered_ms = 200,
     .samples = 2,
     .resets = 1},
};

static struct apapi_meter meter;
static struct apapi_event_result result;

static enum apapi_meter_step feed_at(uint64_t at_ns, uint64_t raw, int error)
{
    const struct apapi_reading reading = {.raw = raw, .error = error};
    double energy_j;

    return apapi_meter_add(&meter, &reading, moment_at(1 + at_ns), &energy_j);
}

static void run_row(const struct row *row)
{
    uint64_t at_ns = 0;

    apapi_meter_init(&meter, row->event, row->interval_ns, NULL);
    meter.gauge.rectangle = row->rectangle;
    apapi_meter_restart(&meter);
    for (size_t i = 0; i < READINGS && (i == 0 || row->readings[i].at_ms > 0); i++) {
        at_ns = row->readings[i].at_ms * MS;
        feed_at(at_ns, row->readings[i].raw, 0);
    }
    finish(&meter, at_ns, &result);
}

TEST(rows)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];

        print_message("# %s\n", row->what);
        run_row(row);
        assert_near(result.total, row->total);
        assert_near(result.summary.min, row->summary.min);
        assert_near(result.summary.mean, row->summary.mean);
        assert_near(result.summary.max, row->summary.max);
        assert_int_equal(result.covered_ns, row->covered_ms * MS);
        assert_int_equal(result.incidents.samples, row->samples);
        assert_int_equal(result.incidents.resets, row->resets);
        if (row->event == &fake_energy_event) {
            assert_int_equal(result.raw_total, llround(row->total * 1e6));
        }
    }
}

static void begin(const struct apapi_event *event)
{
    apapi_meter_init(&meter, event, TICK_NS, NULL);
}

static enum apapi_meter_step feed(uint64_t tick, uint64_t raw)
{
    return feed_at(tick * TICK_NS, raw, 0);
}

static void end(uint64_t ticks)
{
    finish(&meter, ticks * TICK_NS, &result);
}

/*
 * 100 W, read every 1 to 20 ms: extremes are of the power, not of where in an update of the counter
 * the readings lie.
 */
TEST(constant_power_has_no_extremes)
{
    for (uint64_t interval_us = 1000; interval_us <= 20000; interval_us += 1000) {
        apapi_meter_init(&meter, &fake_energy_event, interval_us * 1000, NULL);
        for (uint64_t i = 0; i <= 1000; i++) {
            uint64_t now_us = i * interval_us + i * 7919 % 997 * interval_us / 4000;

            feed_at(now_us * 1000, (now_us + 300) / 1000 * 100000, 0);
        }
        finish(&meter, 1000 * interval_us * 1000, &result);
        assert_in_range(result.summary.min, 94, 100);
        assert_in_range(result.summary.max, 100, 106);
    }
}

/*
 * 15 W for 900 ms, then 43.5 J more in an interval: it may have risen at any moment in it. If that
 * was before its last tenth, one update of 100 has up to a tenth of them.
 */
TEST(uncertainty_knows_the_power_at_the_ends)
{
    uint64_t uj = 0;

    begin(&fake_energy_event);
    for (uint64_t tick = 0; tick <= 10; tick++) {
        uj += tick == 0 ? 0 : (tick < 10 ? 1500000 : 45000000);
        feed(tick, uj);
    }
    end(10);
    assert_near(result.total, 58.5);
    assert_near(result.uncertainty_j, 4.35 + 1e-6);
}

TEST(counter_that_never_moves_is_stuck)
{
    begin(&fake_energy_event);
    for (uint64_t i = 0; i <= 20; i++) {
        feed(i, 7);
    }
    end(20);
    assert_true(result.stuck);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.mean));
}

/* At rest it may be 0 J; its error is not known. */
TEST(estimate_may_rest)
{
    struct apapi_event estimate = fake_energy_event;

    estimate.estimated = true;
    estimate.domain = APAPI_DOMAIN_NONE;
    begin(&estimate);
    for (uint64_t tick = 0; tick <= 20; tick++) {
        feed(tick, 7);
    }
    end(20);
    assert_false(result.stuck);
    assert_near(result.total, 0);
    assert_near(result.summary.max, 0);
    assert_true(isnan(result.uncertainty_j));
    for (uint64_t tick = 21; tick <= 60; tick++) {
        feed(tick, tick <= 30 ? 10000007 : 20000007);
    }
    end(60);
    assert_near(result.total, 20);
    assert_near(result.summary.min, 0);
    assert_near(result.summary.max, 100);
    assert_int_equal(result.incidents.stalls, 0);
    assert_int_equal(result.covered_ns, 60 * TICK_NS);
}

TEST(nothing_read_is_unknown_not_zero)
{
    begin(&fake_energy_event);
    feed_at(0, 0, EIO);
    feed(1, 5);
    end(1);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.min));
    assert_false(result.stuck);
    begin(&watts);
    end(1);
    assert_true(isnan(result.total));
    assert_true(isnan(result.summary.max));
}

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A counter of doubles: increments add up, a decrease is a restart, nonsense is refused. */
TEST(counters_of_doubles)
{
    struct apapi_event event = fake_energy_event;

    event.type = APAPI_TYPE_FP64;
    event.scale = 1;
    begin(&event);
    feed(0, bits_of(1000.5));
    assert_int_equal(feed(1, bits_of(1010.75)), APAPI_METER_KNOWN);
    assert_int_equal(feed(2, bits_of(NAN)), APAPI_METER_WAITING);
    assert_int_equal(feed(3, bits_of(9e9)), APAPI_METER_WAITING);
    feed(4, bits_of(1040.5));
    assert_int_equal(feed(5, bits_of(0)), APAPI_METER_BROKEN);
    feed(6, bits_of(10));
    end(6);
    assert_near(result.total, 50);
    assert_int_equal(result.covered_ns, 5 * TICK_NS);
    assert_int_equal(result.incidents.refused, 2);
    assert_int_equal(result.incidents.resets, 1);
}

/*
 * An increment of an energy counter of doubles that no power explains: a leap, after which it
 * has restarted; what it has missed while it stood still; nonsense, however often it says the same.
 */
TEST(leaps_of_counters_of_doubles)
{
    static const struct {
        double values[7];
        double total;
        uint64_t resets, refused, covered_ticks;
    } cases[] = {
        {{1000, 1010, 9000, 9010, 9020, 9030, 9040}, 50, 1, 0, 5},
        {{1000, 1010, 1010, 1010, 1600, 1610, 1620}, 620, 0, 0, 6},
        {{1000, 1010, 9e9, 9e9, 9e9, 1050, 1060}, 60, 0, 1, 6},
        {{9e9, 9e9, 9e9, 1030, 1040, 1050, 1060}, 30, 1, 0, 3},
    };
    struct apapi_event event = fake_energy_event;

    event.type = APAPI_TYPE_FP64;
    event.scale = 1;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(&event);
        for (size_t k = 0; k < COUNT_OF(cases[i].values); k++) {
            feed(k, bits_of(cases[i].values[k]));
        }
        end(6);
        assert_near(result.total, cases[i].total);
        assert_int_equal(result.incidents.resets, cases[i].resets);
        assert_int_equal(result.incidents.refused, cases[i].refused);
        assert_int_equal(result.covered_ns, cases[i].covered_ticks * TICK_NS);
    }
}

TEST(types_of_raw_values)
{
    const double volts = 1.25;
    struct apapi_event event = {.scale = 2, .type = APAPI_TYPE_FP64};
    uint64_t bits;

    memcpy(&bits, &volts, sizeof bits);
    assert_near(apapi_event_value(&event, bits), 2.5);
    event.type = APAPI_TYPE_INT64;
    assert_near(apapi_event_value(&event, UINT64_MAX), -2);
    event.type = APAPI_TYPE_UINT64;
    assert_near(apapi_event_value(&event, UINT64_MAX), 2 * 18446744073709551615.0);
}
