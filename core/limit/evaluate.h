/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_EVALUATE_H
#define LIMIT_EVALUATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/overflow.h"

/*
 * The evaluation of values by limits, whatever their scope: readings of a node's meter, the sum of
 * the nodes of a step, that of the steps of a job. Pure arithmetic: no clock, no allocation. Totals
 * are long doubles, which hold any 64-bit count.
 */

/** @return whether it is about totals, not about levels. */
static inline bool limit_counts(unsigned mode)
{
    return mode == APAPI_OVERFLOW_TOTAL || mode == APAPI_OVERFLOW_EVERY;
}

/** A value of what is watched. */
struct limit_value {
    long double value;
    uint64_t time_ns; /* of the value; not before that of the latest one */
    uint64_t from_ns; /* a total: its previous value is of this time; 0: of the latest one's */
    bool broken;      /* a level: it was not known for a while before this */
};

/** The crossings of one value. */
struct limit_crossing {
    uint64_t count;             /* 0: none */
    uint64_t first_ns, time_ns; /* of the first and the latest one, between the two values */
    double value;               /* at `time_ns` */
};

/** One limit that is watched: all 0, but for its settings. */
struct limit_state {
    enum apapi_overflow_mode mode;
    long double level;
    uint64_t hold_ns;
    double hysteresis;
    struct limit_crossing crossing; /* found by limit_look(); whoever takes it sets `count` to 0 */
    struct limit_state *next;       /* of the same watch */
    bool begun;                     /* EVERY: it counts from a value that it was given */
    bool beyond;                    /* a level is passed, and the value has not gone back since */
    bool done;                      /* that has been a crossing */
    uint64_t earliest_ns; /* no crossing is before it: the first value, the latest crossing */
    uint64_t beyond_ns;   /* since when a level is passed, without a break */
    long double base;     /* EVERY: the total from which it counts */
    long double told;     /* EVERY: crossings so far, a whole number; TOTAL: 0 or 1 */
};

/** Limits that get the same values, so that most values are compared once. All 0: none. */
struct limit_watch {
    struct limit_state *first; /* borrowed, as all that follow */
    bool known;                /* there is a latest value */
    long double last;          /* the latest value */
    uint64_t last_ns;          /* its time */
    struct limit_value now;    /* for limit_pass(): the new one */
    long double least;         /* a value below it crosses nothing, if there was one before */
};

/** A limit gets the values from now on. */
void limit_join(struct limit_watch *watch, struct limit_state *state);

/** It gets no values any more. */
void limit_leave(struct limit_watch *watch, struct limit_state *state);

/** A run begins. Settings stay. */
void limit_restart(struct limit_watch *watch);

/** The value is not known for a while: what has to be so for a time begins again. */
void limit_break(struct limit_watch *watch);

/** Take a value that may cross something: see limit_look(). */
bool limit_pass(struct limit_watch *watch, const struct limit_value *value);

/**
 * Take a value.
 * @return whether a limit was crossed, which has it as its `crossing`: a total once, a level again
 *         only after it was back
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
