/* SPDX-License-Identifier: BSD-3-Clause */
/* One domain's results from scripted readings of its events. */
#include <errno.h>

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
            apapi_meter_add(&pair->meters[i], &reading, 1 + number * TICK_NS, &energy_j);

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
    if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted))) {
        fail_msg("%.9g is not %.9g", value, wanted);
    }
}

/* Power between two ticks, as the timeline knows it. */
static double power_between(const struct apapi_domain_result *result, uint64_t from, uint64_t to)
{
    uint64_t known_ns;
    double energy_j =
        apapi_timeline_between_j(&result->timeline, from * TICK_NS, to * TICK_NS, &known_ns);

    return known_ns ? energy_j * 1e9 / (double)known_ns : NAN;
}

/* Extremes of the sum, not sums of the extremes: 100+300 and 300+100 W are always 400 W. */
static void test_domain_adds_up_in_each_tick(void **state)
{
    struct pair pair;
    struct apapi_domain_result result;

    (void)state;
    start_pair(&pair);
    tick_pair(&pair, 0, 0, 0);
    tick_pair(&pair, 1, 10000000, 30000000);
    tick_pair(&pair, 2, 40000000, 40000000);
    result = finish_pair(&pair, 2);
    assert_true(result.measured);
    assert_near(result.energy_j, 80);
    assert_near(result.power_w.min, 400);
    assert_near(result.power_w.max, 400);
    assert_near(result.power_w.mean, 400);
}

static void test_domain_waits_for_a_failed_meter(void **state)
{
    struct pair pair;
    struct apapi_domain_result result;

    (void)state;
    start_pair(&pair);
    tick_pair(&pair, 0, 0, 0);
    tick_pair(&pair, 1, 10000000, UINT64_MAX);
    tick_pair(&pair, 2, 20000000, 20000000);
    tick_pair(&pair, 3, 30000000, 30000000);
    result = finish_pair(&pair, 3);
    assert_near(result.energy_j, 60);
    assert_near(result.power_w.min, 200);
    assert_near(result.power_w.max, 200);
    assert_about(apapi_timeline_energy_j(&result.timeline), 60);
    assert_about(power_between(&result, 0, 1), 200);
}

static void test_domain_forgets_a_window_with_a_reset(void **state)
{
    struct pair pair;
    struct apapi_domain_result result;

    (void)state;
    start_pair(&pair);
    tick_pair(&pair, 0, 100000000000, 0);
    tick_pair(&pair, 1, 100010000000, 10000000);
    tick_pair(&pair, 2, 0, 20000000);
    tick_pair(&pair, 3, 10000000, 30000000);
    tick_pair(&pair, 4, 20000000, 40000000);
    result = finish_pair(&pair, 4);
    assert_near(result.energy_j, 30 + 40);
    assert_near(result.power_w.min, 200);
    assert_near(result.power_w.max, 200);
    assert_about(apapi_timeline_energy_j(&result.timeline), 10 + 10 + 20);
    assert_about(power_between(&result, 0, 4), 200);
}

/* It begins with the measurement, whenever the domain is read first. */
static void test_domain_has_a_timeline(void **state)
{
    struct pair pair;
    struct apapi_domain_result result;
    uint64_t known_ns;

    (void)state;
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

/* The sum of a known and an unknown meter is unknown. */
static void test_domain_with_an_unknown_part_is_unknown(void **state)
{
    struct pair pair;
    struct apapi_domain_result result;

    (void)state;
    start_pair(&pair);
    tick_pair(&pair, 0, 0, UINT64_MAX);
    tick_pair(&pair, 1, 10000000, UINT64_MAX);
    result = finish_pair(&pair, 1);
    assert_false(result.measured);
    assert_true(isnan(result.energy_j));
    assert_true(isnan(result.power_w.mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domain_adds_up_in_each_tick),
        cmocka_unit_test(test_domain_waits_for_a_failed_meter),
        cmocka_unit_test(test_domain_forgets_a_window_with_a_reset),
        cmocka_unit_test(test_domain_has_a_timeline),
        cmocka_unit_test(test_domain_with_an_unknown_part_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
