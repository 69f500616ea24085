/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_PROBE_H
#define SESSION_PROBE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "measure/moment.h"

/*
 * When the probes of a component are taken: two readings, one update of its counters apart, at
 * random moments whose distances grow with the time that has passed. They show the power within an
 * interval. See measure/probe.h for what they are good for. A counter that stands still at the
 * start for longer than an update takes is read early, until it moves: what it shows then is older.
 */
struct probe_plan {
    struct random random;
    uint64_t update_ns;   /* of the counters; 0: no probes */
    uint64_t interval_ns; /* between two usual readings */
    uint64_t begin_ns;    /* the first reading of the run */
    uint64_t first_ns;    /* the first one of this probe */
    uint64_t due_ns;      /* the next reading; UINT64_MAX: none */
    unsigned slow;        /* latest readings that took long, one after the other */
    bool starting;        /* the first probe is not done yet */
    enum probe_reading {
        PROBE_FIRST,
        PROBE_SECOND,
        PROBE_USUAL /* a usual one that is early: a counter has not moved since the start */
    } next;
};

/**
 * A run begins, with no probes yet.
 * @param update_ns    the shortest known update period of the component's counters; 0: none
 * @param interval_ns  between two usual readings
 * @param grid_ns      no two readings are nearer to each other
 */
void probe_plan_restart(struct probe_plan *plan, uint64_t update_ns, uint64_t interval_ns,
                        uint64_t grid_ns, uint64_t seed);

/** The first usual reading of the run was taken: it is the first one of a probe as well. */
void probe_plan_begin(struct probe_plan *plan, struct apapi_moment when);

/** The reading was taken. @param moved  each counter has moved since the one before */
void probe_plan_next(struct probe_plan *plan, struct apapi_moment when, bool moved);

#endif
