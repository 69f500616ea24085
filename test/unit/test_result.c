/* SPDX-License-Identifier: BSD-3-Clause */
/* Which energies may be wrong by more than their uncertainty and 1 %, and are marked as rough. */
#include "measure/domain.h"
#include "unit/meter_fixture.h"

#define UPDATE_J 0.1        /* at 100 W */
#define J UINT64_C(1000000) /* the meters count microjoules */

static struct apapi_meter meter;
static struct apapi_event_result result;

static void feed(uint64_t tick, double value)
{
    struct apapi_reading reading = {(uint64_t)(value / meter.event->scale + 0.5), 0};
    double energy_j;

    apapi_meter_add(&meter, &reading, moment_at(tick * TICK_NS), &energy_j);
}

static bool is_rough_after(uint64_t ticks)
{
    finish(&meter, ticks * TICK_NS, &result);
    assert_true(result.incidents.rough <= 1);
    return result.incidents.rough;
}

/* Run a counter at 100 W, whose last tick counts `last_j`. @return whether its energy is rough */
static bool counter_is_rough(uint64_t ticks, double last_j)
{
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    for (uint64_t tick = 0; tick < ticks; tick++) {
        feed(tick, 10 * (double)tick);
    }
    feed(ticks, 10 * (double)(ticks - 1) + last_j);
    return is_rough_after(ticks);
}

/* Read a counter of constant power every 10 ms. @return whether its energy is rough */
static bool often_read_is_rough(uint64_t readings, double w)
{
    apapi_meter_init(&meter, &fake_energy_event, 10 * MS, NULL);
    for (uint64_t i = 0; i <= readings; i++) {
        struct apapi_reading reading = {(uint64_t)(w / 100 * (double)i / meter.event->scale + 0.5),
                                        0};
        double energy_j;

        apapi_meter_add(&meter, &reading, moment_at(i * 10 * MS), &energy_j);
    }
    finish(&meter, readings * 10 * MS, &result);
    return result.incidents.rough;
}

/* A package uses less than 2 kW: 2 J in the last update are 1 % of what it uses in 2 s. */
TEST(the_last_update_of_a_short_run)
{
    assert_true(often_read_is_rough(180, 100));
    assert_false(often_read_is_rough(200, 100));
    assert_in_range(result.uncertainty_j * 1e6, UPDATE_J * (1 + 1.5 / 2000) * 1e6 + 1,
                    UPDATE_J * (1 + 1.5 / 2000) * 1e6 + 2); /* and the unit */
}

/* The last tick has a tenth of the energy of the others. What it may lack is uncertain. */
TEST(a_counter_that_may_have_stopped)
{
    assert_true(counter_is_rough(30, 1));
    assert_true(result.uncertainty_j > 8 && result.uncertainty_j < 10);
    assert_false(counter_is_rough(30, 9.95));
    assert_true(result.uncertainty_j < 2 * UPDATE_J);
}

/* At 2 kW it may have wrapped in 200 s without a reading. */
TEST(a_wrap_that_may_hide)
{
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(0, 0);
    feed(2000, 20000);
    is_rough_after(2000);
    assert_true(result.uncertainty_j > 262143);
}

/* Earlier powers say nothing of a power that has just changed, unless it was seen for long. */
TEST(a_last_move_like_none_before)
{
    assert_false(counter_is_rough(40, 10.05));
    assert_true(counter_is_rough(40, 10.2));
    assert_true(counter_is_rough(40, 9.8));
    assert_false(counter_is_rough(120, 10.2));
}

/* At 100 W: until probes have seen four moves, an update may be as long as an interval. */
TEST(a_period_that_nothing_states)
{
    struct apapi_event event = fake_energy_event;
    double u_j[6];

    event.update_ns = 0;
    for (uint64_t probes = 0; probes < 6; probes++) {
        apapi_meter_init(&meter, &event, TICK_NS, NULL);
        for (uint64_t tick = 0; tick <= 100; tick++) {
            feed(tick, 10 * (double)tick);
            for (uint64_t ms = 50; tick < probes && ms <= 51; ms++) {
                const struct apapi_reading reading = {(100 * tick + ms) * J / 10, 0};

                apapi_meter_probe(&meter, &reading, moment_at((100 * tick + ms) * MS), ms == 51);
            }
        }
        finish(&meter, 100 * TICK_NS, &result);
        u_j[probes] = result.uncertainty_j;
    }
    assert_true(u_j[3] >= 10 && u_j[3] < 11);
    assert_true(u_j[4] > 0.05 && u_j[4] < 0.5);
    assert_true(u_j[5] <= u_j[4]);
}

/* 10 W; the counter begins again before the last reading, which is the only one that is shown. */
TEST(time_without_a_window_is_not_covered)
{
    struct apapi_reading reading = {0};

    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(0, 1000);
    for (uint64_t ms = 10; ms <= 80; ms *= 2) {
        reading.raw = (1000 * 1000 + 10 * ms) * 1000;
        apapi_meter_add(&meter, &reading, moment_at(ms * MS), NULL);
    }
    feed(1, 0.05);
    finish(&meter, TICK_NS, &result);
    assert_near(result.total, 0.8);
    assert_true(result.uncertainty_j > 0.2 && result.uncertainty_j < 0.3);
}

static struct apapi_event watts = {.unit = "W",
                                   .kind = APAPI_KIND_POWER,
                                   .domain = APAPI_DOMAIN_GPU,
                                   .type = APAPI_TYPE_INT64,
                                   .scale = 1e-3};

#define QUIET_W 100.001 /* differs from 100 W just enough to show that each value is new */
#define FRESH (1 + 1.0 / GAUGE_CHANGES)

static bool gauge_is_rough(uint64_t ticks, double other_w)
{
    apapi_meter_init(&meter, &watts, TICK_NS, NULL);
    for (uint64_t tick = 0; tick <= ticks; tick++) {
        feed(tick, tick % 2 ? other_w : 100);
    }
    return is_rough_after(ticks);
}

/*
 * n readings may all miss bursts of 14 / n of the time, at any power that a device may use. Bursts
 * of 3 / n are in the uncertainty.
 */
TEST(a_gauge)
{
    double most_w = fmin(apapi_domain_max_w(watts.domain) / 2.5, 3000);
    double least = (14 - 3) * FRESH / 0.01 * (most_w - 100) / 100;

    assert_true(gauge_is_rough((uint64_t)(0.99 * least), QUIET_W));
    assert_false(gauge_is_rough((uint64_t)(1.01 * least), QUIET_W));
    assert_false(gauge_is_rough((uint64_t)(3 * least), 150));
    assert_true(gauge_is_rough((uint64_t)least, 2000)); /* it varies too much between readings */
}

/* No greatest power is stated: a server draws up to ten times its lowest power, a part of it thirty
 * times, and a GPU less than 2 kW. */
TEST(a_gauge_whose_greatest_power_is_not_known)
{
    const struct apapi_event part = watts;
    const double n = 1000 / FRESH;

    gauge_is_rough(1000, QUIET_W);
    assert_in_range(result.uncertainty_j, 0.999 * 100 * 1900 * -expm1(-3 / n), 100 * 3 * 1900 / n);
    watts.domain = APAPI_DOMAIN_NODE;
    gauge_is_rough(1000, QUIET_W);
    assert_in_range(result.uncertainty_j, 0.999 * 100 * 900 * -expm1(-3 / n), 100 * 3 * 900 / n);
    watts.most_w = 200; /* as many readings, as ten minutes of a second each */
    gauge_is_rough(600, QUIET_W);
    assert_true(result.uncertainty_j < 0.006 * result.total);
    gauge_is_rough(60, QUIET_W);
    assert_true(result.uncertainty_j < 0.055 * result.total);
    watts = part;
}

TEST(what_has_no_uncertainty)
{
    struct apapi_event event = fake_energy_event;

    event.estimated = true;
    apapi_meter_init(&meter, &event, TICK_NS, NULL);
    feed(0, 0);
    feed(1, 10);
    assert_false(is_rough_after(1));
    assert_false(isnan(result.total));
    apapi_meter_init(&meter, &fake_energy_event, TICK_NS, NULL);
    feed(0, 1);
    feed(1, 1);
    assert_false(is_rough_after(1)); /* nothing is known of it */
    assert_true(isnan(result.total));
    often_read_is_rough(99, 0);
    assert_true(result.still && !result.stuck); /* in less than a second */
}

/* --- domains ---------------------------------------------------------------------------------- */

struct pair {
    struct apapi_meter meters[2];
    struct apapi_domain_meter domain;
};

/* Add a tick with a raw value for each meter; UINT64_MAX is a reading that fails. */
static void tick_pair(struct pair *pair, uint64_t number, uint64_t first, uint64_t second)
{
    const uint64_t raw[2] = {first, second};

    for (int i = 0; i < 2; i++) {
        const struct apapi_reading reading = {raw[i], raw[i] == UINT64_MAX ? EIO : 0};
        double energy_j;
        enum apapi_meter_step step =
            apapi_meter_add(&pair->meters[i], &reading, moment_at(1 + number * TICK_NS), &energy_j);

        apapi_domain_meter_note(&pair->domain, &pair->meters[i].rate);
        apapi_domain_meter_add(&pair->domain, step, energy_j);
    }
    apapi_domain_meter_tick(&pair->domain, 1 + number * TICK_NS);
}

static struct apapi_domain_result finish_pair(struct pair *pair, uint64_t ticks)
{
    struct apapi_domain_result figures = {.measured = false};

    for (int i = 0; i < 2; i++) {
        struct apapi_event_result event;

        finish(&pair->meters[i], ticks * TICK_NS, &event);
        apapi_domain_result_add(&figures, &event);
    }
    apapi_domain_meter_finish(&pair->domain, ticks * TICK_NS, &figures);
    return figures;
}

/* Check a value as exactly as a timeline allows. */
static void assert_about(double value, double wanted)
{
    assert_within(value, wanted, 1e-6);
}

/* @return the power between two ticks by the timeline [W]. */
static double power_between(const struct apapi_domain_result *figures, uint64_t from, uint64_t to)
{
    uint64_t known_ns;
    double energy_j =
        apapi_timeline_between_j(&figures->timeline, from * TICK_NS, to * TICK_NS, &known_ns);

    return known_ns ? energy_j * 1e9 / (double)known_ns : NAN;
}

static const struct row {
    const char *what;
    size_t ticks;
    uint64_t raw[5][2]; /* at each tick; the first tick is at 0 */
    double energy_j;
    struct apapi_summary power_w;
    double timeline_j, timeline_w;
} rows[] = {
    {"extremes of the sum, not sums of the extremes: 100+300 and 300+100 W are always 400 W",
     2,
     {{0, 0}, {10 * J, 30 * J}, {40 * J, 40 * J}},
     80,
     {.min = 400, .mean = 400, .max = 400},
     80,
     400},
    {"a failed meter is waited for",
     3,
     {{0, 0}, {10 * J, UINT64_MAX}, {20 * J, 20 * J}, {30 * J, 30 * J}},
     60,
     {.min = 200, .mean = 200, .max = 200},
     60,
     200},
    {"a counter that stops within a tick, and shows the rest later: no power was as low as 150 W",
     4,
     {{0, 0}, {10 * J, 10 * J}, {15 * J, 20 * J}, {15 * J, 30 * J}, {40 * J, 40 * J}},
     80,
     {.min = 200, .mean = 200, .max = 200},
     80,
     200},
    {"a window with a reset is forgotten",
     4,
     {{100000 * J, 0}, {100010 * J, 10 * J}, {0, 20 * J}, {10 * J, 30 * J}, {20 * J, 40 * J}},
     30 + 40,
     {.min = 200, .mean = 200, .max = 200},
     10 + 10 + 20,
     200},
    {"the sum of a known and an unknown meter is unknown",
     1,
     {{0, UINT64_MAX}, {10 * J, UINT64_MAX}},
     NAN,
     {.min = NAN, .mean = NAN, .max = NAN},
     NAN,
     NAN},
};

TEST(rows)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct apapi_domain_result figures;
        struct pair pair;

        print_message("# %s\n", row->what);
        for (int k = 0; k < 2; k++) {
            apapi_meter_init(&pair.meters[k], &fake_energy_event, TICK_NS, NULL);
        }
        apapi_domain_meter_init(&pair.domain, 1, TICK_NS, NULL);
        for (size_t tick = 0; tick <= row->ticks; tick++) {
            tick_pair(&pair, tick, row->raw[tick][0], row->raw[tick][1]);
        }
        figures = finish_pair(&pair, row->ticks);
        assert_int_equal(figures.measured, !isnan(row->energy_j));
        assert_near(figures.energy_j, row->energy_j);
        assert_near(figures.power_w.min, row->power_w.min);
        assert_near(figures.power_w.mean, row->power_w.mean);
        assert_near(figures.power_w.max, row->power_w.max);
        assert_about(apapi_timeline_energy_j(&figures.timeline), row->timeline_j);
        assert_about(power_between(&figures, 0, row->ticks), row->timeline_w);
        assert_about(power_between(&figures, 0, row->ticks / 2), row->timeline_w);
    }
}
