/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_EVALUATE_H
#define LIMIT_EVALUATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/overflow.h"

/*
 * Compare values with limits of any scope: readings of a node's meter, the sum over the nodes of a
 * step, the sum over the steps of a job. Pure arithmetic: no clock, no allocation. Totals are long
 * doubles, which hold any 64-bit count.
 */

/** @return whether limits of this mode look at totals, not at levels. */
static inline bool limit_counts(unsigned mode)
{
    return mode == APAPI_OVERFLOW_TOTAL || mode == APAPI_OVERFLOW_EVERY;
}

/** A value of the watched quantity. */
struct limit_value {
    long double value;
    uint64_t time_ns; /* of this value; not before the time of the latest value */
    uint64_t from_ns; /* a total: time of its previous value; 0: the time of the latest value */
    bool broken;      /* a level: it was not known for a while before this value */
};

/** The crossings of one limit by one value. */
struct limit_crossing {
    uint64_t count;             /* 0: none */
    uint64_t first_ns, time_ns; /* of the first and the latest crossing, between two values */
    double value;               /* at `time_ns` */
};

/** A watched limit. At the start all members are 0, except its settings. */
struct limit_state {
    enum apapi_overflow_mode mode;
    long double level;
    uint64_t hold_ns;
    double hysteresis;
    struct limit_crossing crossing; /* found by limit_look(); its reader sets `count` to 0 */
    struct limit_state *next;       /* next limit of the same watch */
    bool begun;                     /* a value was given: `base` is set */
    bool beyond;                    /* a level is passed, and the value has not gone back since */
    bool done;                      /* passing the level was noted as a crossing */
    uint64_t earliest_ns; /* no crossing is earlier: time of the first value or latest crossing */
    uint64_t beyond_ns;   /* since when the level is passed, without a break */
    long double base;     /* EVERY: the total from which it counts */
    long double told;     /* EVERY: crossings so far, a whole number; TOTAL: 0 or 1 */
};

/** Limits that get the same values: most values need one comparison for all. All 0: no limits. */
struct limit_watch {
    struct limit_state *first; /* borrowed, as are all limits linked to it */
    bool known;                /* there is a latest value */
    long double last;          /* the latest value */
    uint64_t last_ns;          /* time of the latest value */
    struct limit_value now;    /* for limit_pass(): the new value */
    long double least;         /* if `known`, a value below this crosses nothing */
};

/** Add a limit: it gets the watch's values from now on. */
void limit_join(struct limit_watch *watch, struct limit_state *state);

/** Remove a limit: it gets no more values. */
void limit_leave(struct limit_watch *watch, struct limit_state *state);

/** Begin a run: values and crossings are forgotten, settings stay. */
void limit_restart(struct limit_watch *watch);

/** Note that the value is unknown for a while: the time that a level must hold begins again. */
void limit_break(struct limit_watch *watch);

/** Take a value that may cross a limit: see limit_look(). */
bool limit_pass(struct limit_watch *watch, const struct limit_value *value);

/**
 * Take a value.
 * @return whether limits were crossed; their `crossing` tells when. TOTAL is crossed once, a level
 *         again only after the value has gone back.
 */
static inline bool limit_look(struct limit_watch *watch, const struct limit_value *value)
{
    if (!watch->known || value->broken || value->value >= watch->least) {
        return limit_pass(watch, value);
    }
    watch->last = value->value;
    watch->last_ns = value->time_ns;
    return false;
}

#endif
