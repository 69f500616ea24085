/* SPDX-License-Identifier: BSD-3-Clause */
/* One event's results from scripted readings. */
#include "unit/meter_fixture.h"

static const struct apapi_event watts = {
    .unit = "W", .kind = APAPI_KIND_POWER, .type = APAPI_TYPE_INT64, .scale = 1e-3};

static const struct apapi_event celsius = {
    .unit = "C", .kind = APAPI_KIND_TEMPERATURE, .type = APAPI_TYPE_INT64, .scale = 1e-3};

static const struct apapi_event steps = {
    .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_INT64, .accumulates = true, .scale = 1};

/* Readings "MILLISECONDS=RAW" at an interval; result "TOTAL: MIN MEAN MAX, COVERED ms, SAMPLES". */
static const struct row {
    const char *what;
    const struct apapi_event *event;
    uint64_t interval_ns;
    const char *readings, *result;
    bool rectangle;
} rows[] = {
    {"the mean is not the 150 W of an unweighted mean", &fake_energy_event, TICK_NS,
     "0=0 1000=100000000 4000=700000000", "700: 100 175 200, 4000 ms, 2", false},
    {"the last interval is as short as it happens to be: it belongs to the one before it",
     &fake_energy_event, TICK_NS, "0=0 100=10000000 200=20000000 201=20200000",
     "20.2: 100 100.497512 100.990099, 201 ms, 3", false},
    {"a run shorter than an interval", &fake_energy_event, TICK_NS, "0=0 10=1000000",
     "1: nan 100 nan, 10 ms, 1", false},
    {"power by trapezoid: 200 J + 300 J", &watts, 10 * TICK_NS, "0=100000 1000=300000 2000=300000",
     "500: 100 250 300, 2000 ms, 2", false},
    {"power by rectangle", &watts, 10 * TICK_NS, "0=100000 1000=300000",
     "300: 100 300 300, 1000 ms, 1", true},
    {"negative gauges keep their extremes", &celsius, TICK_NS, "0=-20000 100=-10000",
     "nan: -20 -15 -10, 100 ms, 1", false},
    {"signed counters that go below 0 have started again: no 2^64 of anything", &steps, TICK_NS,
     "0=-10 100=5 200=-3 300=4", "22: 70 110 150, 200 ms, 2", false},
};

static struct apapi_meter meter;
static struct apapi_event_result result;
static double energy_j; /* of the latest reading */

static enum apapi_meter_step feed_at(uint64_t at_ns, uint64_t raw)
{
    const struct apapi_reading reading = {.raw = raw};

    return apapi_meter_add(&meter, &reading, moment_at(1 + at_ns), &energy_j);
}

static void run_row(const struct row *row)
{
    uint64_t at_ns = 0;
    char *end;

    apapi_meter_init(&meter, row->event, row->interval_ns, NULL);
    meter.gauge.rectangle = row->rectangle;
    apapi_meter_restart(&meter);
    for (const char *text = row->readings; *text; text = end) {
        at_ns = strtoul(text, &end, 10) * MS;
        feed_at(at_ns, (uint64_t)strtoll(end + 1, &end, 10));
    }
    finish(&meter, at_ns, &result);
}

TEST(rows)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        char text[128];

        run_row(row);
        snprintf(text, sizeof text, "%.9g: %.9g %.9g %.9g, %g ms, %d", result.total,
                 result.summary.min, result.summary.mean, result.summary.max,
                 (double)result.covered_ns / MS, (int)result.incidents.samples);
        fail_if(strcmp(text, row->result) != 0, "%s: %s", row->what, text);
        assert_int_equal(result.incidents.resets, row->event == &steps);
        if (row->event == &fake_energy_event) {
            assert_int_equal(result.raw_total, llround(result.total * 1e6));
        }
    }
}

static void begin(const struct apapi_event *event)
{
    apapi_meter_init(&meter, event, TICK_NS, NULL);
}

static enum apapi_meter_step feed(uint64_t tick, uint64_t raw)
{
    return feed_at(tick * TICK_NS, raw);
}

static void end(uint64_t ticks)
{
    finish(&meter, ticks * TICK_NS, &result);
}

/*
 * 100 W, read every 1 to 20 ms: the extremes are those of the power, and do not depend on where in
 * an update of the counter the readings lie.
 */
TEST(constant_power_has_no_extremes)
{
    for (uint64_t interval_us = 1000; interval_us <= 20000; interval_us += 1000) {
        double sign = interval_us % 2000 ? 1 : -1;

        apapi_meter_init(&meter, &fake_energy_event, interval_us * 1000, NULL);
        meter.values.operation = APAPI_OP1_DIV_DIFF_TIME;
        meter.wanted[1].factor = sign * 1e-3; /* uJ/ns to W */
        for (uint64_t i = 0; i <= 1000; i++) {
            uint64_t now_us = i * interval_us + i * 7919 % 997 * interval_us / 4000;

            feed_at(now_us * 1000, (now_us + 300) / 1000 * 100000);
        }
        finish(&meter, 1000 * interval_us * 1000, &result);
        assert_in_range(result.summary.min, 94, 100);
        assert_in_range(result.summary.max, 100, 106);
        assert_near(result.values[1].min, sign > 0 ? result.summary.min : -result.summary.max);
        assert_near(result.values[1].max, sign > 0 ? result.summary.max : -result.summary.min);
        assert_in_range(result.values[1].avg, result.values[1].min, result.values[1].max);
    }
}

/* A counter that never moves is stuck. An estimate may be 0 J at rest; its error is unknown. */
TEST(estimate_may_rest)
{
    struct apapi_event event = fake_energy_event;

    for (int estimated = 0; estimated < 2; estimated++) {
        event.estimated = estimated;
        event.domain = estimated ? APAPI_DOMAIN_NONE : APAPI_DOMAIN_PACKAGE;
        begin(&event);
        for (uint64_t tick = 0; tick <= 20; tick++) {
            feed(tick, 7);
        }
        end(20);
        assert_int_equal(result.stuck, !estimated);
        assert_int_equal(isnan(result.total), !estimated);
        assert_int_equal(isnan(result.summary.mean), !estimated);
    }
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

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/*
 * Increments of an energy counter of doubles add up, a decrease is a restart, nonsense is refused.
 * An increment that no power explains is a leap, after which the counter has restarted; or it is
 * what it missed while it stood still; or it is nonsense, however often it is repeated.
 */
TEST(counters_of_doubles)
{
    static const struct {
        double values[7];
        double total;
        uint64_t resets, refused, covered_ticks;
    } cases[] = {
        {{1000.5, 1010.75, NAN, 9e9, 1040.5, 0, 10}, 50, 1, 2, 5},
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

/* Counts other than energy may be of any size, and grow in one run from small to great. */
TEST(counts_that_are_doubles)
{
    static const struct {
        double values[5], total;
        uint64_t resets;
    } cases[] = {
        {{1e-9, 2e-9, 2e-9, 4e-9, 5e-9}, 4e-9, 0},
        {{0, 0.25, 1e6, 1e15, 1e15}, 1e15, 0},
        {{2.0e14, 2.1e14, 2.2e14, 1e20, 3e20}, 3e20 - 2e14, 0},
        {{-3, -3, -2.5, 1e30, 1e300}, 1e300, 0},
        {{1e300, 1e300, 1e300, 0, 1e299}, 1e299, 1},
        {{5, 5, INFINITY, 7, 9}, 4, 0},
    };
    struct apapi_event event = {
        .scale = 1, .kind = APAPI_KIND_COUNT, .type = APAPI_TYPE_FP64, .accumulates = true};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(&event);
        for (size_t k = 0; k < COUNT_OF(cases[i].values); k++) {
            feed(k, bits_of(cases[i].values[k]));
        }
        end(4);
        fail_if(!(fabs(result.total / cases[i].total - 1) < 1e-5) ||
                    result.incidents.resets != cases[i].resets,
                "row %zu: %g, %d resets", i, result.total, (int)result.incidents.resets);
    }
}

/* --- readings that only the sums know, and the look at a counter after its last one ----------- */

static enum apapi_meter_step shown(uint64_t at_ms, uint64_t raw)
{
    return feed_at(at_ms * MS, raw);
}

static void unshown(uint64_t at_ms, uint64_t raw)
{
    const struct apapi_reading reading = {raw, 0};

    apapi_meter_add(&meter, &reading, moment_at(1 + at_ms * MS), NULL);
}

/* 2 kW for a millisecond after 64 ms, else 100 W: only the mean of 100 ms is shown. */
TEST(a_counter_shows_windows_of_shown_readings)
{
    begin(&fake_energy_event);
    shown(0, 0);
    unshown(1, 100000);
    unshown(64, 6400000);
    unshown(65, 8400000);
    assert_true(isnan(meter.value)); /* as after the first reading */
    assert_int_equal(meter.known_ns, 1);
    assert_near(apapi_meter_total(&meter), 8.4);
    assert_int_equal(shown(100, 11900000), APAPI_METER_KNOWN);
    assert_near(energy_j, 11.9);
    assert_near(meter.value, 11.9);
    assert_int_equal(meter.known_ns, 1 + 100 * MS);
    shown(200, 21900000);
    finish(&meter, 200 * MS, &result);
    assert_int_equal(result.incidents.samples, 5);
    assert_near(result.total, 21.9);
    assert_near(result.summary.max, 119);
    assert_near(result.summary.min, 100);
    assert_near(result.values[0].max * 1e-6, 11.9);
}

/* The integral has all readings. The extremes are means of the time between two shown readings. */
TEST(a_gauge_shows_means_between_shown_readings)
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

/* The extremes are that value, without the error of a sum, which JSON would round from it. */
TEST(a_constant_gauge_shows_its_value)
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

/* A reading each second of a server's gauge [W]; 0 ends a row. */
TEST(a_power_that_no_device_has_waits_for_the_next_reading)
{
    static const struct {
        double watts[8];
        double energy_j;
        uint64_t refused;
    } cases[] = {
        {{400, 400, 65535, 400, 400}, 800, 1}, /* not counted, nor the time around it */
        {{4e6, 400, 400, 4e6}, 400, 2},        /* the first, and the last */
        {{400, 9000, 400, 400}, 9800, 0},      /* a burst that a server may have */
        {{10, 400, 400, 400, 400}, 1200, 0},   /* once confirmed, all count */
        {{1e6, 1e6, 1e6, 1e6}, 3e6, 0},
    };
    static const struct apapi_event server = {.name = "hwmon:::power",
                                              .unit = "W",
                                              .kind = APAPI_KIND_POWER,
                                              .domain = APAPI_DOMAIN_NODE,
                                              .type = APAPI_TYPE_UINT64,
                                              .scale = 1};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        uint64_t n = 0;

        apapi_meter_init(&meter, &server, 10 * TICK_NS, NULL);
        for (; cases[i].watts[n] > 0; n++) {
            feed(10 * n, (uint64_t)cases[i].watts[n]);
        }
        end(10 * (n - 1));
        assert_int_equal(result.incidents.refused, cases[i].refused);
        assert_near(result.total, cases[i].energy_j);
    }
}

/* A device that is on draws power: its gauge of 0 W does not work. Graphics may draw hardly any. */
TEST(a_gauge_of_0_w)
{
    static const enum apapi_domain domains[] = {APAPI_DOMAIN_GPU, APAPI_DOMAIN_UNCORE};

    for (size_t i = 0; i < COUNT_OF(domains); i++) {
        const struct apapi_event event = {.unit = "W",
                                          .kind = APAPI_KIND_POWER,
                                          .domain = domains[i],
                                          .type = APAPI_TYPE_UINT64,
                                          .scale = 1e-3};

        begin(&event);
        for (uint64_t tick = 0; tick < 19; tick++) {
            feed(tick, 0);
        }
        end(18);
        assert_int_equal(isnan(result.total), i == 0);
        assert_int_equal(result.stuck, i == 0);
        assert_int_equal(isnan(result.summary.mean), i == 0);
        assert_int_equal(isnan(result.uncertainty_j), i == 0);
    }
}

/* A snapshot may be taken before the next reading is shown. */
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

/* 100 W until 1 s, read every 100 ms; the last reading counts `last_uj`. */
TEST(the_look_shows_whether_it_lives)
{
    static const struct {
        uint64_t last_uj;
        uint64_t looks_uj[2]; /* 1 and 2 ms later; 0: one look is enough */
        uint64_t covered_ms;
        double least_j, most_j; /* of the uncertainty */
    } cases[] = {
        /* the last reading counts less than those before, but the counter still moves */
        {5000000, {95100000}, 1000, 0, 0.11},
        /* the counter has stopped, it is unknown where in the last interval */
        {5000000, {95000000, 95000000}, 900, 10, 12},
        /* the counter is late */
        {10000000, {100000000, 100200000}, 1000, 0, 0.11},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(&fake_energy_event);
        for (uint64_t tick = 0; tick < 10; tick++) {
            feed(tick, tick * 10000000);
        }
        feed(10, 90000000 + cases[i].last_uj);
        assert_int_equal(apapi_meter_check_ns(&meter), MS);
        for (uint64_t k = 0; k < 2 && cases[i].looks_uj[k]; k++) {
            const struct apapi_reading look = {cases[i].looks_uj[k], 0};

            assert_int_equal(apapi_meter_check(&meter, &look, moment_at(1 + (1001 + k) * MS)),
                             k == 0 && cases[i].looks_uj[1] > 0);
        }
        for (int times = 0; times < 2; times++) {
            end(10);
            assert_near(result.total, 90 + (double)cases[i].last_uj * 1e-6);
            assert_int_equal(result.covered_ns, cases[i].covered_ms * MS);
            assert_true(result.uncertainty_j > cases[i].least_j);
            assert_true(result.uncertainty_j < cases[i].most_j);
            assert_true(cases[i].least_j == 0 || result.incidents.rough == 1);
        }
    }
}

/* --- gauges ----------------------------------------------------------------------------------- */

#define START_NS (1000 * MS)
#define STEP_NS (100 * MS)
#define STEP_S 0.1

static struct apapi_gauge gauge;

static void begin_gauge(void)
{
    memset(&gauge, 0, sizeof gauge);
    apapi_gauge_restart(&gauge);
}

/* n equal steps leave 1 - exp(-3 / n) of the time unseen: for bursts of MOST, or for pauses. */
#define MOST 1000.0

static double unseen(double mean, double count, double held)
{
    double share = held < count ? -expm1(-3 * held / count) : 1; /* a single look may be older */

    return fmax(MOST - mean, mean) * share * count * STEP_S;
}

/* A value that differs each time is held for one reading and a little, as far as readings show. */
#define FRESH (1 + 1.0 / GAUGE_CHANGES)

static double gauge_uncertainty(void)
{
    return apapi_gauge_uncertainty(&gauge, MOST, gauge.covered_ns);
}

#define GAUGE(name) TEST_WITH(name, begin_gauge, NULL)

/* Readings close to each other count for less than as many readings at equal distances. */
GAUGE(unequal_steps_see_less)
{
    double count = 101 * 101 / (100 + 100 * 0.01 * 0.01);

    for (uint64_t i = 0; i <= 100; i++) {
        apapi_gauge_add(&gauge, 250.1 + 1e-12 * (double)i, START_NS + i * STEP_NS / 100);
    }
    for (uint64_t i = 1; i <= 100; i++) {
        apapi_gauge_add(&gauge, 250.1 - 1e-12 * (double)i, START_NS + STEP_NS + i * STEP_NS);
    }
    assert_within(gauge_uncertainty(), (MOST - 250.1) * -expm1(-3 / count) * 101 * STEP_S, 1e-9);
}

/* If the value is always of the beginning of a reading, the whole course comes so much late. */
GAUGE(a_long_reading_moves_the_course)
{
    for (uint64_t step = 0; step <= 100; step++) {
        gauge.length_ns = step == 50 ? STEP_NS / 4 : STEP_NS / 100;
        apapi_gauge_add(&gauge, 100 + (double)step, START_NS + step * STEP_NS);
    }
    assert_within(gauge_uncertainty(),
                  100 * (STEP_S / 4 + (FRESH - 1) * STEP_S) + unseen(150, 100, FRESH), 1e-9);
}

/* --- probes ----------------------------------------------------------------------------------- */

#define UPDATE_NS MS
#define PLAUSIBLE 1000.0 /* greatest plausible increment */

static struct apapi_probe probe;

static void begin_probe(void)
{
    apapi_probe_init(&probe, UPDATE_NS);
}

static void probe_close_at(double value, uint64_t at_ns)
{
    apapi_probe_close(&probe, value, moment_at(START_NS + at_ns), PLAUSIBLE);
}

/* Let a probe see `increment` after `after_ns`. */
static void probe_see(double increment, uint64_t after_ns)
{
    apapi_probe_open(&probe, 100, moment_at(START_NS));
    probe_close_at(100 + increment, after_ns);
}

#define PROBE(name) TEST_WITH(name, begin_probe, NULL)

/* Of a longer wait, only one update counts. In less than twice an update, all may have been one. */
PROBE(one_update_is_seen)
{
    static const struct {
        double increment;
        uint64_t after_ns;
        double most;
    } looks[] = {{50, UPDATE_NS * 7 / 8, 50}, {80, 2 * UPDATE_NS, 50},     {110, 2 * UPDATE_NS, 55},
                 {80, 2 * UPDATE_NS - 1, 80}, {90, 3 * UPDATE_NS - 1, 80}, {10, UPDATE_NS, 80}};

    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        probe_see(looks[i].increment, looks[i].after_ns);
        assert_near(probe.most, looks[i].most);
        assert_false(probe.open);
    }
    assert_near(probe.recent_least, 10);
    assert_near(probe.latest, 110);
}

/* 300 in three updates are as much in one that takes as long. */
PROBE(another_period_takes_along_what_was_seen)
{
    probe_see(50, UPDATE_NS);
    apapi_probe_learn(&probe, UPDATE_NS * 5 / 4);
    apapi_probe_learn(&probe, UPDATE_NS * 3 / 4);
    assert_near(probe.most, 50);
    assert_int_equal(probe.update_ns, UPDATE_NS);
    apapi_probe_note(&probe, 300, 3 * UPDATE_NS);
    assert_near(probe.most, 100);
    apapi_probe_learn(&probe, UPDATE_NS * 3 / 2);
    assert_near(probe.most, 150);
    apapi_probe_learn(&probe, UPDATE_NS * 4);
    assert_near(probe.most, 300);
    apapi_probe_learn(&probe, UPDATE_NS * 2);
    assert_near(probe.most, 150);
    assert_int_equal(probe.update_ns, UPDATE_NS * 2);
    assert_int_equal(probe.moves, 0);
}

/* Let a probe read twice as late each time, until the counter moves. */
static void insist(uint64_t period_ns)
{
    uint64_t at_ns = UPDATE_NS;

    apapi_probe_open(&probe, 100, moment_at(START_NS));
    for (; at_ns < period_ns; at_ns *= 2) {
        probe_close_at(100, at_ns);
    }
    probe_close_at(110, at_ns);
}

/* The longest wait of a single one counts three times, of two twice, of many once. */
PROBE(the_longest_wait_tells_the_update_period)
{
    assert_int_equal(apapi_probe_update_ns(&probe), UPDATE_NS);
    insist(10 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe), 3 * 16 * MS);
    insist(10 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe), 2 * 16 * MS);
    for (int i = 0; i < 1998; i++) {
        insist(UPDATE_NS);
    }
    assert_int_equal(apapi_probe_update_ns(&probe), 16 * MS + 16 * MS / 1000);
    insist(20 * MS);
    assert_int_equal(apapi_probe_update_ns(&probe) / MS, 32);
}

/* --- value0 and value1 ------------------------------------------------------------------------ */

/* The original project's example: value0 of 7, then 4 after 500 ns. */
TEST(operations)
{
    static const struct {
        enum apapi_operation operation;
        double value1;
    } cases[] = {
        {APAPI_OP1_SAMPLE_DIFF, -3},
        {APAPI_OP1_DIV_DIFF_TIME, 0.008},
        {APAPI_OP1_SAMPLE1_MUL_DIFF_TIME, 2000},
        {APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME, 2750},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct apapi_values values;

        apapi_values_restart(&values, cases[i].operation);
        apapi_values_first(&values, 7);
        apapi_values_add(&values, 4, 500);
        assert_near(values.stats[1].last, cases[i].value1);
        assert_near(values.stats[0].last, 4);
    }
}

/* A first increment has no predecessor: the difference is unknown, it is not the absolute value. */
TEST(difference_needs_a_predecessor)
{
    struct apapi_values values;

    apapi_values_restart(&values, APAPI_OP1_SAMPLE_DIFF);
    apapi_values_add(&values, 500, 100);
    assert_int_equal(values.stats[1].count, 0);
    apapi_values_add(&values, 510, 100);
    assert_near(values.stats[1].last, 10);
    values.has_last = false;
    apapi_values_add(&values, 0, 100);
    assert_int_equal(values.stats[1].count, 1);
}

/* 50 W for 1 s and 100 W for 3 s are a mean of 87.5 W; factors divide. */
TEST(statistics)
{
    struct apapi_values values;
    struct apapi_value_result figures = {.factor = 1000};

    apapi_values_restart(&values, APAPI_OP1_SAMPLE1_MUL_DIFF_TIME);
    apapi_values_add(&values, 50000, 1000000000);
    apapi_values_add(&values, 100000, 3000000000u);
    apapi_value_result(&values.stats[0], &figures);
    assert_near(figures.min, 50);
    assert_near(figures.max, 100);
    assert_near(figures.avg, 87.5);
    assert_near(figures.acc, 150);
    assert_near(figures.last, 100);
    figures.factor = -1000;
    apapi_value_result(&values.stats[0], &figures);
    assert_true(figures.min == -100 && figures.avg == -87.5 && figures.max == -50);
    figures.factor = 1e12; /* mW x ns to Ws */
    apapi_value_result(&values.stats[1], &figures);
    assert_near(figures.acc, 350);
}
