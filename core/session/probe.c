/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/probe.h"

#define INTERVAL_UPDATES 4 /* in a shorter interval usual readings show enough */
#define SHORT_OF_UPDATE 8  /* by this part of an update both are nearer: they see one, not two */
#define STILL_UPDATES 4    /* so long a counter that is well does not stand still */
#define LEAST_GROWTH 0.3   /* of the time that has passed, to the next probe */
#define MOST_GROWTH 1.0
#define SLOW_READINGS 3 /* one after the other: it is the source, and not a busy machine */

void probe_plan_restart(struct probe_plan *plan, uint64_t update_ns, uint64_t interval_ns,
                        uint64_t grid_ns, uint64_t seed)
{
    uint64_t apart_ns = update_ns > grid_ns ? update_ns : grid_ns;
    bool useful = update_ns > 0 && apart_ns <= interval_ns / INTERVAL_UPDATES;

    *plan = (struct probe_plan){
        .random = {seed},
        .update_ns = useful ? update_ns : 0,
        .interval_ns = interval_ns,
        .due_ns = UINT64_MAX,
    };
}

static void probe_plan_set(struct probe_plan *plan, enum probe_reading next, uint64_t due_ns)
{
    plan->next = next;
    plan->due_ns = due_ns;
}

static void probe_plan_await_second(struct probe_plan *plan, struct apapi_moment when)
{
    plan->first_ns = when.end_ns;
    probe_plan_set(plan, PROBE_SECOND,
                   when.end_ns + plan->update_ns - plan->update_ns / SHORT_OF_UPDATE);
}

/* Where all readings are slow, probes say little of one update and disturb more than usual ones. */
static bool probe_plan_is_slow(struct probe_plan *plan, struct apapi_moment when)
{
    bool takes_long = when.end_ns - when.begin_ns > plan->update_ns / 2;

    plan->slow = takes_long ? plan->slow + 1 : 0;
    return plan->slow >= SLOW_READINGS;
}

void probe_plan_begin(struct probe_plan *plan, struct apapi_moment when)
{
    if (plan->update_ns && !probe_plan_is_slow(plan, when)) {
        plan->starting = true;
        plan->begin_ns = when.end_ns;
        probe_plan_await_second(plan, when);
    }
}

/* Twice as late each time, until it moves or the usual readings are as near. */
static void probe_plan_insist(struct probe_plan *plan, struct apapi_moment when)
{
    uint64_t passed_ns = when.end_ns - plan->first_ns;
    bool usual = plan->starting && passed_ns > STILL_UPDATES * plan->update_ns;

    probe_plan_set(plan, usual ? PROBE_USUAL : PROBE_SECOND, when.end_ns + passed_ns);
}

static void probe_plan_await_first(struct probe_plan *plan, struct apapi_moment when)
{
    double passed_ns = (double)(when.end_ns - plan->begin_ns);
    double growth = random_between(&plan->random, LEAST_GROWTH, MOST_GROWTH);

    plan->starting = false;
    probe_plan_set(plan, PROBE_FIRST, when.end_ns + (uint64_t)(passed_ns * growth));
}

void probe_plan_next(struct probe_plan *plan, struct apapi_moment when, bool moved)
{
    if (probe_plan_is_slow(plan, when)) {
        plan->due_ns = UINT64_MAX;
    } else if (plan->next == PROBE_FIRST) {
        probe_plan_await_second(plan, when);
    } else if (!moved && when.end_ns - plan->first_ns < plan->interval_ns / 2) {
        probe_plan_insist(plan, when);
    } else {
        probe_plan_await_first(plan, when);
    }
}
