/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared worker's schedule: absolute deadlines, missed ticks, intervals, and the guard. */
#include "session/component.h"
#include "session/schedule.h"
#include "unit/unit.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

/* However late a deadline is met, the next one is a whole number of intervals after the first. */
TEST(deadlines_do_not_drift)
{
    static const struct {
        uint64_t now_ms, deadline_ms, missed;
    } cases[] = {
        {100, 200, 0}, /* in time */
        {199, 200, 0}, /* late, within the interval */
        {200, 300, 1}, /* exactly at the next deadline, which is missed */
        {499, 500, 3}, {10050, 10100, 99},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct component component = {.interval_ns = 100 * MS, .deadline_ns = 100 * MS};

        component_next_deadline(&component, cases[i].now_ms * MS);
        assert_int_equal(component.deadline_ns, cases[i].deadline_ms * MS);
        assert_int_equal(component.missed, cases[i].missed);
    }
}

/* With a floor, steps read at multiples of it from any start, and not late after a multiple. */
TEST(readings_fall_on_the_grid_of_the_floor)
{
    static const struct {
        uint64_t deadline_us, now_us, due_us, floor_ms;
    } cases[] = {
        {123000, 100000, 130000, 10},                               /* the next multiple of 10 ms */
        {130000, 100000, 130000, 10}, {123000, 130000, 130000, 10}, /* in time: now */
        {123000, 131250, 130000, 10},                               /* late by an eighth */
        {123000, 131251, 140000, 10},                               /* later: the next one */
        {123000, 140900, 130000, 10}, {123000, 229999, 230000, 10}, /* up to ten multiples */
        {123000, 235000, 130000, 10},                               /* after that at once */
        {26000, 26000, 50000, 100}, /* the grid is no wider than the interval, 25 ms */
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct component component = {.interval_ns = 25 * MS,
                                            .floor_ns = cases[i].floor_ms * MS,
                                            .deadline_ns = cases[i].deadline_us * 1000};

        assert_int_equal(component_due_ns(&component, cases[i].now_us * 1000),
                         cases[i].due_us * 1000);
    }
}

/* --- probes ----------------------------------------------------------------------------------- */

#define START_NS (1000 * MS)
#define UPDATE_NS (8 * MS)
#define SECOND_NS (7 * MS) /* time between the two readings of a probe */
#define INTERVAL_NS (1000 * MS)

static struct probe_plan plan;

static void restart(uint64_t update_ns, uint64_t interval_ns, uint64_t grid_ns)
{
    probe_plan_restart(&plan, update_ns, true, interval_ns, grid_ns);
}

static void begin_plan(void)
{
    restart(UPDATE_NS, INTERVAL_NS, 1);
    assert_true(plan.due_ns == UINT64_MAX);
    probe_plan_begin(&plan, moment_at(START_NS));
}

static void assert_next(enum probe_reading next, uint64_t after_start_ns)
{
    assert_int_equal(plan.next, next);
    assert_int_equal(plan.due_ns, START_NS + after_start_ns);
}

static void take(bool moved)
{
    probe_plan_next(&plan, moment_at(plan.due_ns), moved);
}

#define PLANNED(name) TEST_WITH(name, begin_plan, NULL)

/* Probes come at random moments, after another 30 to 100 % of the time that has passed. */
TEST(distances_grow_with_the_time)
{
    double least = 1e9, most = 0;

    for (uint64_t seed = 0; seed < 500; seed++) {
        plan.random = (struct random){seed};
        probe_plan_restart(&plan, UPDATE_NS, true, INTERVAL_NS, 1);
        probe_plan_begin(&plan, moment_at(START_NS));
        for (int i = 0; i < 10; i++) {
            uint64_t second_ns = plan.due_ns;
            double growth;

            take(true);
            growth = (double)(plan.due_ns - second_ns) / (double)(second_ns - START_NS);
            assert_true(growth > 0.29 && growth < 1.01);
            least = growth < least ? growth : least;
            most = growth > most ? growth : most;
            take(true);
        }
    }
    assert_true(least < 0.35);
    assert_true(most > 0.95);
}

/* A probe reads twice as late each time, until the usual readings are as near. */
PLANNED(it_insists_on_a_move)
{
    uint64_t at_ns;

    for (at_ns = SECOND_NS; at_ns < INTERVAL_NS / 2; at_ns *= 2) {
        assert_next(PROBE_SECOND, at_ns);
        take(false);
    }
    assert_next(PROBE_SECOND, at_ns);
    take(false);
    assert_int_equal(plan.next, PROBE_FIRST);
}

/* @return the distance of the next probe's readings, after a probe that saw a move this late */
static uint64_t apart_after(uint64_t late_ns)
{
    plan.due_ns = plan.first_ns + late_ns;
    take(true);
    take(true);
    return plan.due_ns - plan.first_ns;
}

/* Half of the time in which the last probe saw a move, as far as threads wake up in time. */
PLANNED(probes_come_near_to_the_update_period)
{
    assert_int_equal(apart_after(SECOND_NS), SECOND_NS / 2);
    assert_int_equal(apart_after(2 * SECOND_NS), SECOND_NS);
    assert_int_equal(apart_after(90 * US), 50 * US);
}

/* @return whether there are more probes after a reading that took so long */
static bool goes_on_after(uint64_t length_ns)
{
    const struct apapi_moment when = {START_NS, START_NS + length_ns};

    probe_plan_next(&plan, when, true);
    return plan.due_ns != UINT64_MAX;
}

/* One slow reading does not stop probes: a busy machine delays readings now and then. */
PLANNED(three_slow_readings_stop_probes)
{
    static const uint64_t most_ns = UPDATE_NS / 2;

    for (int i = 0; i < 4; i++) {
        assert_true(goes_on_after(most_ns));
    }
    for (int i = 0; i < 4; i++) {
        assert_true(goes_on_after(most_ns + 1));
        assert_true(goes_on_after(most_ns + 1));
        assert_true(goes_on_after(most_ns));
    }
    assert_true(goes_on_after(most_ns + 1));
    assert_true(goes_on_after(most_ns + 1));
    assert_false(goes_on_after(most_ns + 1));
}

struct need {
    const char *name;
    uint64_t update_ns, interval_ns, grid_ns;
    bool probes;
};

static const struct need needs[] = {
    {"no update period is known", 0, INTERVAL_NS, 1, false},
    {"updates may be shorter than known", 4 * MS, 4 * MS, 1, true},
    {"the grid has four steps in an interval", MS, 40 * MS, 10 * MS, true},
    {"the grid has fewer", MS, 40 * MS, 11 * MS, false},
};

TEST(probes_where_usual_readings_do_not_show_enough)
{
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        const struct need *need = &needs[i];

        restart(need->update_ns, need->interval_ns, need->grid_ns);
        probe_plan_begin(&plan, moment_at(START_NS));
        fail_if((plan.due_ns != UINT64_MAX) != need->probes, "%s: probes %s", need->name,
                need->probes ? "are missing" : "are taken");
    }
}

/* --- trying again ----------------------------------------------------------------------------- */

#define SECOND (1000 * MS)
#define DAY (86400 * SECOND)
#define BEGIN (1000 * SECOND)

/* Fail from BEGIN on for `length_ns`. @return the time of the first reading after that. */
static uint64_t fail_for(struct component *component, uint64_t length_ns, uint64_t *attempts)
{
    uint64_t now_ns = BEGIN - component->interval_ns;

    retry_good(&component->retry, now_ns);
    component->deadline_ns = now_ns;
    component_next_deadline(component, now_ns);
    *attempts = 0;
    for (;;) {
        now_ns = component->deadline_ns;
        if (now_ns - BEGIN >= length_ns) {
            retry_good(&component->retry, now_ns);
            component_next_deadline(component, now_ns);
            return now_ns;
        }
        ++*attempts;
        retry_failed(&component->retry, component->interval_ns, now_ns);
        component_next_deadline(component, now_ns);
    }
}

TEST(attempts_are_few_and_not_late)
{
    static const struct {
        uint64_t interval_ns, length_ns, attempts_max;
    } cases[] = {
        {MS, SECOND, 11},         {100 * MS, SECOND, 5}, {MS, 60 * SECOND, 17},
        {SECOND, 60 * SECOND, 7}, {10 * MS, DAY, 1460},  {100 * SECOND, DAY, 865},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct component component = {.interval_ns = cases[i].interval_ns};
        uint64_t attempts;
        uint64_t back_ns = fail_for(&component, cases[i].length_ns, &attempts);
        uint64_t delay_ns = back_ns - BEGIN - cases[i].length_ns;

        assert_in_range(attempts, 1, cases[i].attempts_max);
        assert_true(delay_ns <= cases[i].length_ns + component.interval_ns);
        assert_true(delay_ns <= RETRY_PAUSE_MAX_NS || delay_ns <= component.interval_ns);
        assert_int_equal((back_ns - BEGIN) % component.interval_ns, 0);
        assert_int_equal(component.missed, 0);
        assert_int_equal(component.deadline_ns, back_ns + component.interval_ns);
        assert_int_equal(component.retry.outages, 1);
        assert_int_equal(retry_outage_ns(&component.retry),
                         back_ns - BEGIN + component.interval_ns);
    }
}

TEST(an_attempt_made_twice_counts_once)
{
    struct retry retry = {0};

    retry_good(&retry, BEGIN);
    for (uint64_t pause_s = 1; pause_s <= 32; pause_s *= 2) {
        retry_failed(&retry, SECOND, BEGIN);
        if (pause_s > 1) {
            retry_repeat(&retry);
            retry_failed(&retry, SECOND, BEGIN);
        }
        assert_int_equal(retry.pause_ns, pause_s * SECOND);
    }
}

/* One failure is no reason to reopen a source after any interval, nor are many in a short time. */
TEST(a_source_is_reopened_after_a_second)
{
    struct retry retry = {0};

    retry_good(&retry, BEGIN);
    retry_failed(&retry, 10 * SECOND, BEGIN + 10 * SECOND);
    assert_false(retry_wants_reopening(&retry));
    retry_failed(&retry, 10 * SECOND, BEGIN + 20 * SECOND);
    assert_true(retry_wants_reopening(&retry));
    retry_good(&retry, BEGIN + 20 * SECOND);
    for (uint64_t ms = 1; ms < 1000; ms++) {
        retry_failed(&retry, MS, BEGIN + 20 * SECOND + ms * MS);
        assert_false(retry_wants_reopening(&retry));
    }
    retry_failed(&retry, MS, BEGIN + 21 * SECOND);
    assert_true(retry_wants_reopening(&retry));
}

/* --- the dense start -------------------------------------------------------------------------- */

static struct dense_start dense;

static void dense_begin(void)
{
    dense = (struct dense_start){.first_ns = START_NS, .interval_ns = 100 * MS, .after_ns = MS / 2};
}

#define DENSE(name) TEST_WITH(name, dense_begin, NULL)

DENSE(twice_as_late_up_to_the_interval)
{
    dense_start_next(&dense, moment_at(START_NS), NULL);
    for (uint64_t after_ms = 1; after_ms <= 64; after_ms *= 2) {
        assert_int_equal(dense.due_ns, START_NS + after_ms * MS);
        dense_start_next(&dense, moment_at(dense.due_ns), NULL);
    }
    assert_true(dense.due_ns == UINT64_MAX);
}

/* A reading that comes late is not made up for; one that takes long is followed by a pause. */
DENSE(late_and_slow_readings)
{
    dense_start_next(&dense, moment_at(START_NS + 5 * MS), NULL);
    assert_int_equal(dense.due_ns, START_NS + 8 * MS);
    dense_start_next(&dense, (struct apapi_moment){START_NS + 8 * MS, START_NS + 10 * MS}, NULL);
    assert_int_equal(dense.due_ns, START_NS + 32 * MS);
    dense_start_next(&dense, (struct apapi_moment){START_NS, START_NS + 10 * MS}, NULL);
    assert_true(dense.due_ns == UINT64_MAX);
}
