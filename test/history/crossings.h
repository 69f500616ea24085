/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_CROSSINGS_H
#define HISTORY_CROSSINGS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/session.h"
#include "simulation/chance.h"
#include "simulation/history.h"

#define CROSSINGS_MAX 6       /* thresholds of a history */
#define CROSSINGS_POINTS 4096 /* readings of an event that are kept */

struct play;

/** The readings of an event in a run. */
struct crossings_course {
    size_t count;
    bool overrun; /* there were more */
    struct crossings_point {
        uint64_t at_ns;    /* since the start */
        uint64_t least_ns; /* it was made between these two (CLOCK_MONOTONIC) */
        uint64_t most_ns;
        long double total; /* of a counter, since its first good reading; a gauge's value */
        bool failed;
        bool gap; /* it is not known what was since the one before */
    } points[CROSSINGS_POINTS];
};

/** A threshold of a history, and what its handler was told in a run. */
struct crossings_threshold {
    char event[64];
    enum crossings_of { CROSSINGS_EVENT, CROSSINGS_DOMAIN, CROSSINGS_NODE } of;
    size_t component, number; /* of the event; or the domain */
    bool gauge;
    double scale;
    unsigned mode;
    double level, hysteresis;
    uint64_t hold_ns;
    int id;         /* -1: it is not set */
    bool changed;   /* set, changed or removed in this run */
    uint64_t count; /* that it was told of in this run */
    uint64_t latest_ns;
};

/** The thresholds of the history that is played: what is told of them is judged. */
struct crossings {
    struct play *play;
    struct random random;
    size_t count;
    struct crossings_threshold thresholds[CROSSINGS_MAX];
    struct crossings_course courses[HISTORY_COMPONENTS][HISTORY_EVENTS];
    struct crossings_course powers[APAPI_DOMAINS]; /* of domains; NONE: of the node */
    uint64_t windows[APAPI_DOMAINS];               /* of these, so far */
    uint64_t tell_once_in; /* handlers run after one reading in so many; 0: at the end only */
};

/** Calls and crossings of all histories, and those of levels that were counted here, too. */
extern uint64_t crossings_told, crossings_counted, crossings_levels_judged;

/** Choose thresholds, from the history's seed. */
void crossings_generate(struct crossings *crossings, struct play *play);

/** The session exists, or goes on: set what is not set. */
void crossings_set(struct crossings *crossings);

/** In the middle of a run: change, remove and set some. */
void crossings_disturb(struct crossings *crossings);

/** A run begins. */
void crossings_start(struct crossings *crossings);

/** A reading was reported. */
void crossings_sample(struct crossings *crossings, size_t component,
                      const struct apapi_sample *sample);

/** The run has ended: every crossing was told once, and none was invented. */
void crossings_judge(struct crossings *crossings);

#endif
