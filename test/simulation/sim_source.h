/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_SIM_SOURCE_H
#define SIMULATION_SIM_SOURCE_H
#include "simulation/history.h"
#include "simulation/sim_clock.h"
#include "sources/sources.h"

#define SIM_BEGIN_NS UINT64_C(5000000000000) /* of a history, on the clock */

/**
 * The components of a history, "c0", "c1" ...: linked with --wrap, the functions of the routes find
 * them instead of real ones.
 */
struct sim_source {
    const struct history *history;
    struct sim_clock *clock;
    uint64_t origin_ns; /* when the history began, on the clock */
    struct random random;
    struct sim_component {
        uint64_t begin_ns, value_ns, end_ns; /* of the latest reading, in the history's time */
        bool absurd[HISTORY_EVENTS];         /* in it */
        int opened, closed, lost;            /* readers */
        int by_caller;                       /* calls to read or to close them */
        struct apapi_reader *lost_reader;    /* NULL: none */
    } components[HISTORY_COMPONENTS];
};

/** The components that can be opened from now on. */
void sim_source_use(struct sim_source *source, const struct history *history,
                    struct sim_clock *clock);

/** The history begins, on a clock that is as the history says. */
void sim_begin(struct sim_source *source, struct sim_clock *clock, const struct history *history,
               uint64_t seed);

/** @return the number in an event's name: its source may list the events in another order. */
size_t sim_source_number(const struct apapi_event *event);

/** The session is gone: free what a thread held that was ended. */
void sim_source_free_lost(struct sim_source *used);

/** The count of a counter's device [raw units], if it did not wrap. */
uint64_t sim_source_count(const struct history *history, size_t component, size_t event,
                          uint64_t now_ns);

/** Which life of the counter it is: it counts from anywhere in another one. */
unsigned sim_source_life(const struct history *history, size_t component, size_t event,
                         uint64_t now_ns);

#endif
