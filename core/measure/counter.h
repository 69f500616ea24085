/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/moment.h"
#include "measure/update.h"

/*
 * The 64-bit total of one hardware counter. Pure arithmetic: no clock, no allocation.
 *
 * A reading is accepted if the increment since the last accepted one is plausible for the time
 * between them. Otherwise it is only remembered (doubted). If the next reading continues from the
 * last accepted one, the doubted reading was wrong (refused). If the next one continues from the
 * doubted reading, either the counter had stood still and has caught up (everything is counted), or
 * it restarted (reset) and nothing is counted across the break.
 *
 * A reading has a beginning and an end. Plausibility uses the widest distance of two readings. The
 * covered time begins with the end of a first reading. It ends with the beginning of the last
 * reading before a break, or of the last one in which the counter was known to run. A counter that
 * stands still from its first reading on is covered from its first move: what it shows then may be
 * older than the reading.
 */
struct apapi_counter {
    bool is_signed;     /* raw values are int64_t */
    uint64_t range_max; /* greatest raw value; 0: the counter never wraps */
    double max_per_ns;  /* greatest plausible increment per ns [raw units]; INFINITY: any */
    uint64_t hide_ns;   /* a longer interval may hide whole wraps; UINT64_MAX: none */
    bool rests;         /* it may stand still for any time */
    bool moved;         /* since the last break */
    uint64_t unit_ns;   /* in which the least power makes it move by one */
    uint64_t stall_ns;  /* a longer standstill is an incident; UINT64_MAX: never */
    double slack;       /* allowance for one interval: one update of the counter */
    struct apapi_update update;
    uint64_t total;      /* sum of all accepted increments [raw units] */
    uint64_t covered_ns; /* sum of the intervals of these increments [ns]; exact when finished */
    uint64_t segment_ns; /* end of the first reading since the last break */
    double hidden;       /* what whole wraps may hide, in all gaps [raw units] */
    struct apapi_incidents incidents;
    double guard_raw; /* what the hardware's counter can hold [raw units]; 0: no limit */
    bool reopened;    /* source reopened since the latest reading: the counter may start anywhere */
    struct apapi_counter_point {
        bool valid;
        uint64_t raw;
        uint64_t begin_ns;
        uint64_t at_ns;    /* end of that reading */
        uint64_t moved_ns; /* last change: the counter may have stood still since */
        uint64_t ran_ns; /* beginning of the reading before that: until then it was known to run */
        uint64_t increment; /* of the last move [raw units] */
    } last, doubted;
};

enum apapi_count {
    APAPI_COUNT_BASELINE, /* a first reading, also of a new segment: nothing is counted */
    APAPI_COUNT_ADDED,    /* `increment` was added for the time `since_ns` */
    APAPI_COUNT_DOUBTED,  /* implausible: the next reading decides */
    APAPI_COUNT_RESET     /* as ADDED, but the counter restarted in between */
};

/** The meaning of one reading. */
struct apapi_increment {
    uint64_t raw;      /* [raw units] */
    uint64_t since_ns; /* length of the interval [ns] */
    bool wrapped;      /* the counter wrapped around */
};

/**
 * Prepare a counter. @param max_w plausible power [W] for energy counters, INFINITY for others.
 */
void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w);

/** Every device draws power, so an energy meter never rests; an estimate may. */
static inline bool apapi_counter_never_rests(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY && !event->estimated;
}

/** Forget all readings and totals, but keep the settings. */
void apapi_counter_restart(struct apapi_counter *counter);

/** Take a reading. @param increment set for APAPI_COUNT_ADDED and APAPI_COUNT_RESET. */
enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, struct apapi_increment *increment);

/**
 * The source was opened again after an outage. The counter continues only if the next reading is
 * certainly of the same counter. Otherwise it restarted, and its increment during the outage is
 * unknown.
 */
void apapi_counter_reopened(struct apapi_counter *counter);

/** Note a failed reading. */
void apapi_counter_failed(struct apapi_counter *counter);

/** Call it after the last reading. A reading that is still doubted counts as refused. */
void apapi_counter_finish(struct apapi_counter *counter);

/**
 * @return how long a counter may be left unread without losing a wrap: a quarter of the shortest
 * possible time between two wraps [ns]; UINT64_MAX: forever.
 */
uint64_t apapi_counter_guard_ns(const struct apapi_event *event, double max_w);

#endif
