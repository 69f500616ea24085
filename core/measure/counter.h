/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/moment.h"

/*
 * The 64-bit total of one hardware counter. Pure arithmetic: no clock, no allocation.
 *
 * A reading is believed when the increment since the last believed one is plausible for the time
 * that has passed. One that is not is only remembered: if the next reading goes on from the last
 * believed one, it was wrong (refused); if the next one goes on from it, either the counter had
 * stood still and shows now what it had missed (all of it is counted), or it began anew (reset) and
 * nothing is counted across the break.
 *
 * A reading has a beginning and an end. What is plausible goes by the widest distance of two
 * readings. What is covered begins with the end of a first reading and ends with the beginning of
 * the last one before a break, or with the last one in which the counter ran for certain.
 */
struct apapi_counter {
    bool is_signed;      /* raw values are int64_t */
    uint64_t range_max;  /* greatest raw value; 0: the counter never wraps */
    double max_per_ns;   /* greatest plausible increment per ns [raw units]; INFINITY: any */
    double guard_raw;    /* what the hardware's counter can hold [raw units]; 0: no end */
    uint64_t stall_ns;   /* standing still for so long is an incident; UINT64_MAX: never */
    double slack;        /* what may come on top in one interval: one update of the counter */
    uint64_t total;      /* sum of all believed increments [raw units] */
    uint64_t covered_ns; /* sum of the intervals of these increments [ns]; exact when finished */
    uint64_t segment_ns; /* when the first reading since the last break ended */
    struct apapi_incidents incidents;
    bool reopened; /* since the latest reading: it may count from anywhere */
    struct apapi_counter_point {
        bool valid;
        uint64_t raw;
        uint64_t begin_ns;
        uint64_t at_ns;    /* its end */
        uint64_t moved_ns; /* when it had changed last: the counter may have stood still since */
        uint64_t ran_ns;   /* the reading before that one began: until then it ran for certain */
    } last, doubted;
};

enum apapi_count {
    APAPI_COUNT_BASELINE, /* a first reading, also of a new segment: nothing to count yet */
    APAPI_COUNT_ADDED,    /* `increment` was added for the time `since_ns` */
    APAPI_COUNT_DOUBTED,  /* implausible: the next reading will tell */
    APAPI_COUNT_RESET     /* as ADDED, but the counter began anew in between */
};

/** What one reading meant. */
struct apapi_increment {
    uint64_t raw;      /* [raw units] */
    uint64_t since_ns; /* length of the interval [ns] */
    bool wrapped;      /* the counter went through its end */
};

/**
 * Prepare a counter. @param max_w plausible power [W] for energy counters, INFINITY for others.
 */
void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w);

/** No part draws nothing, so a meter of energy does not rest; an estimate may. */
static inline bool apapi_counter_never_rests(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY && !event->estimated;
}

/** Forget all readings and totals, keep the settings. */
void apapi_counter_restart(struct apapi_counter *counter);

/** Take a reading. @param increment set for APAPI_COUNT_ADDED and APAPI_COUNT_RESET. */
enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, struct apapi_increment *increment);

/**
 * Its source was opened anew after an outage. If the next reading cannot but continue the last one,
 * it does; otherwise the counter has begun anew, and what the outage cost is unknown.
 */
void apapi_counter_reopened(struct apapi_counter *counter);

/** Take note of a reading that failed. */
void apapi_counter_failed(struct apapi_counter *counter);

/** The last reading has been taken: one that is still doubted counts as refused. */
void apapi_counter_finish(struct apapi_counter *counter);

/**
 * @return how long a counter may go unread without losing a wrap, a quarter of the shortest
 * possible time between two wraps [ns]; UINT64_MAX: for ever.
 */
uint64_t apapi_counter_guard_ns(const struct apapi_event *event, double max_w);

#endif
