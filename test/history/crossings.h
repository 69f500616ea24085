/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_CROSSINGS_H
#define HISTORY_CROSSINGS_H
#include "apapi/session.h"
#include "simulation/chance.h"
#include "simulation/history.h"

#define CROSSINGS_MAX 6       /* thresholds of a history */
#define CROSSINGS_POINTS 4096 /* kept readings of an event */

struct play;

/** The readings of an event in a run. */
struct crossings_course {
    size_t count;
    bool overrun; /* there were more readings */
    struct crossings_point {
        uint64_t at_ns;    /* time since the start */
        uint64_t least_ns; /* the reading was made between least_ns and most_ns (CLOCK_MONOTONIC) */
        uint64_t most_ns;
        long double total; /* a counter's total since its first good reading; a gauge's value */
        bool failed;
        bool gap; /* the course since the point before is not known */
    } points[CROSSINGS_POINTS];
};

/** A threshold of a history, and what its handler was told of in a run. */
struct crossings_threshold {
    char event[64];
    enum crossings_of { CROSSINGS_EVENT, CROSSINGS_DOMAIN, CROSSINGS_NODE } of;
    size_t component, number; /* component and number of the event; or number: the domain */
    bool gauge;
    double scale;
    unsigned mode;
    double level, hysteresis;
    uint64_t hold_ns;
    int id;         /* -1: the threshold is not set */
    bool changed;   /* set, changed or removed in this run */
    uint64_t count; /* crossings that the handler was told of in this run */
    uint64_t latest_ns;
};

/** The thresholds of the history that is played. What their handlers are told of is judged. */
struct crossings {
    struct play *play;
    struct random random;
    size_t count;
    struct crossings_threshold thresholds[CROSSINGS_MAX];
    struct crossings_course courses[HISTORY_COMPONENTS][HISTORY_EVENTS];
    struct crossings_course powers[APAPI_DOMAINS]; /* of domains; [NONE]: of the node */
    uint64_t windows[APAPI_DOMAINS];               /* windows of `powers` so far */
    uint64_t tell_once_in; /* handlers run after one reading in so many; 0: only at the end */
};

/** Calls and crossings in all histories, and crossings of levels that were counted here, too. */
extern uint64_t crossings_told, crossings_counted, crossings_levels_judged;

/** Choose thresholds, from the history's seed. */
void crossings_generate(struct crossings *crossings, struct play *play);

/** Set the thresholds that are not set: the session is new, or goes on. */
void crossings_set(struct crossings *crossings);

/** Change, remove and set some thresholds, in the middle of a run. */
void crossings_disturb(struct crossings *crossings);

/** Begin a run. */
void crossings_start(struct crossings *crossings);

/** Add a reading that was reported. */
void crossings_sample(struct crossings *crossings, size_t component,
                      const struct apapi_sample *sample);

/** Judge a run that has ended: each crossing was told once, and none was invented. */
void crossings_judge(struct crossings *crossings);

#endif
