/* SPDX-License-Identifier: BSD-3-Clause */
/* One domain's results from scripted readings of its events. */
#include "measure/domain.h"
#include "unit/meter_fixture.h"

struct pair {
    struct apapi_meter meters[2];
    struct apapi_domain_meter domain;
};

static void start_pair(struct pair *pair)
{
    for (int i = 0; i < 2; i++) {
        apapi_meter_init(&pair->meters[i], &fake_energy_event, TICK_NS, NULL);
    }
    apapi_domain_meter_init(&pair->domain, 1, TICK_NS, NULL);
}

/* One tick: a raw value for each meter, UINT64_MAX for a reading that fails. */
static void tick_pair(struct pair *pair, uint64_t number, uint64_t first, uint64_t second)
{
    const uint64_t raw[2] = {first, second};

    for (int i = 0; i < 2; i++) {
        const struct apapi_reading reading = {raw[i], raw[i] == UINT64_MAX ? EIO : 0};
        double energy_j;
        enum apapi_meter_step step =
            apapi_meter_add(&pair->meters[i], &reading, moment_at(1 + number * TICK_NS), &energy_j);

        apapi_domain_meter_add(&pair->domain, step, energy_j);
    }
    apapi_domain_meter_tick(&pair->domain, 1 + number * TICK_NS);
}

static struct apapi_domain_result finish_pair(struct pair *pair, uint64_t ticks)
{
    struct apapi_domain_result result = {.measured = false};

    for (int i = 0; i < 2; i++) {
        struct apapi_event_result event;

        finish(&pair->meters[i], ticks * TICK_NS, &event);
        apapi_domain_result_add(&result, &event);
    }
    apapi_domain_meter_finish(&pair->domain, ticks * TICK_NS, &result);
    return result;
}

/* As exact as a timeline. */
static void assert_about(double value, double wanted)
{
    assert_within(value, wanted, 1e-6);
}

/* Power between two ticks, as the timeline knows it. */
static double power_between(const struct apapi_domain_result *result, uint64_t from, uint64_t to)
{
    uint64_t known_ns;
    double energy_j =
        apapi_timeline_between_j(&result->timeline, from * TICK_NS, to * TICK_NS, &known_ns);

    return known_ns ? energy_j * 1e9 / (double)known_ns : NAN;
}

#define J UINT64_C(1000000) /* the meters count microjoules */

static const struct row {
    const char *what;
    size_t ticks;
    uint64_t raw[5][2]; /* of each tick, the first at 0 */
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
        struct apapi_domain_result result;
        struct pair pair;

        print_message("# %s\n", row->what);
        start_pair(&pair);
        for (size_t tick = 0; tick <= row->ticks; tick++) {
            tick_pair(&pair, tick, row->raw[tick][0], row->raw[tick][1]);
        }
        result = finish_pair(&pair, row->ticks);
        assert_int_equal(result.measured, !isnan(row->energy_j));
        assert_near(result.energy_j, row->energy_j);
        assert_near(result.power_w.min, row->power_w.min);
        assert_near(result.power_w.mean, row->power_w.mean);
        assert_near(result.power_w.max, row->power_w.max);
        assert_about(apapi_timeline_energy_j(&result.timeline), row->timeline_j);
        assert_about(power_between(&result, 0, row->ticks), row->timeline_w);
    }
}

/* It begins with the measurement, whenever the domain is read first. */
TEST(domain_has_a_timeline)
{
    struct pair pair;
    struct apapi_domain_result result;
    uint64_t known_ns;

    start_pair(&pair);
    tick_pair(&pair, 2, 0, 0);
    tick_pair(&pair, 3, 10000000, 10000000);
    tick_pair(&pair, 4, 40000000, 40000000);
    tick_pair(&pair, 5, 40000000, 40000000);
    tick_pair(&pair, 6, 41000000, 41000000);
    result = finish_pair(&pair, 8);
    assert_true(result.timeline.length_ns == 8 * TICK_NS);
    assert_about(apapi_timeline_energy_j(&result.timeline), result.energy_j);
    apapi_timeline_between_j(&result.timeline, 0, 8 * TICK_NS, &known_ns);
    assert_about((double)known_ns, 4.0 * TICK_NS);
    assert_about(power_between(&result, 5, 6), 10);
    assert_true(power_between(&result, 3, 4) > power_between(&result, 2, 3));
}
