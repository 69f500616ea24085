/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_SIM_SOURCE_H
#define SIMULATION_SIM_SOURCE_H
#include "simulation/history.h"
#include "simulation/sim_clock.h"
#include "sources/sources.h"

#define SIM_BEGIN_NS UINT64_C(5000000000000) /* start of a history on the clock */

/**
 * The components of a history, "c0", "c1" ...: linked with --wrap, the functions of the routes find
 * these components instead of real ones.
 */
struct sim_source {
    const struct history *history;
    struct sim_clock *clock;
    uint64_t origin_ns; /* time on the clock when the history began */
    struct random random;
    struct sim_component {
        uint64_t begin_ns, value_ns, end_ns; /* of the latest reading, in the history's time */
        bool absurd[HISTORY_EVENTS];         /* events whose latest reading was absurd */
        int opened, closed, lost;            /* number of readers */
        int by_caller;                       /* calls of the caller to read or to close readers */
        struct apapi_reader *lost_reader;    /* NULL: none */
    } components[HISTORY_COMPONENTS];
};

/** Set the components that can be opened from now on. */
void sim_source_use(struct sim_source *source, const struct history *history,
                    struct sim_clock *clock);

/** Begin the history, on a clock that is set as the history says. */
void sim_begin(struct sim_source *source, struct sim_clock *clock, const struct history *history,
               uint64_t seed);

/** @return the number in an event's name, as the source may list the events in another order. */
size_t sim_source_number(const struct apapi_event *event);

/** Free the memory of a thread that was ended, after its session is gone. */
void sim_source_free_lost(struct sim_source *used);

/** @return the count of a counter's device, as if it did not wrap [raw units]. */
uint64_t sim_source_count(const struct history *history, size_t component, size_t event,
                          uint64_t now_ns);

/** @return the number of the counter's life; in another life, it counts from anywhere. */
unsigned sim_source_life(const struct history *history, size_t component, size_t event,
                         uint64_t now_ns);

#endif
