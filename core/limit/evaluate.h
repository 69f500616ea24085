/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_EVALUATE_H
#define LIMIT_EVALUATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/overflow.h"
#include "limit/limit.h"

/*
 * The evaluation of a value by a limit, whatever its scope: a reading of a node's meter, the sum of
 * the nodes of a step, that of the steps of a job. Pure arithmetic: no clock, no allocation. Totals
 * are long doubles, which hold any 64-bit count.
 */

/** One limit that is watched: all 0, but for its settings. What each value touches lies together.
 */
struct limit_state {
    enum apapi_overflow_mode mode;
    bool known;       /* there is a latest value */
    bool beyond;      /* a level is passed, and the value has not gone back since */
    bool done;        /* that has been a crossing */
    long double next; /* a value below it crosses nothing, if there was one before */
    long double last; /* the latest value */
    uint64_t last_ns; /* its time */
    uint64_t hold_ns;
    long double level;
    double hysteresis;
    uint64_t earliest_ns; /* no crossing is before it: the first value, the latest crossing */
    uint64_t beyond_ns;   /* since when a level is passed, without a break */
    long double base;     /* EVERY: the total from which it counts */
    long double told;     /* EVERY: crossings so far, a whole number; TOTAL: 0 or 1 */
};

/** A value of what is watched. */
struct limit_value {
    long double value;
    uint64_t time_ns; /* of the value; not before that of the latest one */
    uint64_t from_ns; /* a total: its previous value is of this time; 0: of the latest one's */
    bool broken;      /* a level: it was not known for a while before this */
};

/** The crossings of one value. */
struct limit_crossing {
    uint64_t count;
    uint64_t first_ns, time_ns; /* of the first and the latest one, between the two values */
    double value;               /* at `time_ns` */
};

/** A run begins. Settings stay. */
void limit_restart(struct limit_state *state);

/** The value is not known for a while: what has to be so for a time begins again. */
void limit_break(struct limit_state *state);

/** Take a value that may cross something: see limit_evaluate(). */
bool limit_pass(struct limit_state *state, const struct limit_value *value,
                struct limit_crossing *crossing);

/**
 * Take a value.
 * @param crossing  result, if it returns true
 * @return whether the limit was crossed: a total once, a level again only after it was back
 */
static inline bool limit_evaluate(struct limit_state *state, const struct limit_value *value,
                                  struct limit_crossing *crossing)
{
    if (!state->known || value->broken || value->value >= state->next) {
        return limit_pass(state, value, crossing);
    }
    state->last = value->value;
    state->last_ns = value->time_ns;
    return false;
}

/**
 * @param scale  of one unit of a counter, > 0
 * @return a level in units of the counter, which is a whole number where it is nearly one
 */
long double limit_level(double level, double scale);

/* --- the limits of a sum ---------------------------------------------------------------------- */

/** Those of one scope in a list. All but these two 0 at the start. */
struct limit_watch {
    const struct limit_list *limits; /* borrowed */
    enum limit_scope scope;
    struct limit_state states[LIMITS_ROOM];
    uint64_t counts[LIMITS_ROOM]; /* crossings so far */
};

/** A sum has crossed a limit. */
struct limit_crossed {
    size_t limit;   /* in the list */
    double level_j; /* that was reached */
    struct limit_crossing crossing;
};

/**
 * Look at the sum, which is taken as rising evenly between two looks. Each total is crossed once,
 * however the sum moves. A budget that is reached together with its warning is without it.
 * @param crossed  result: lowest amount first
 * @return their number
 */
size_t limit_watch_look(struct limit_watch *watch, double sum_j, uint64_t now_ns,
                        struct limit_crossed crossed[LIMITS_ROOM]);

#endif
