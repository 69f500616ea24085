/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_HOURS_H
#define NODE_HOURS_H
#include "config/settings.h"
#include "node/idle.h"
#include "node/meters.h"
#include "record/hour.h"

struct node_readings;

/** Where the shares and the hours of a node are kept. */
struct node_shares_settings {
    const struct config *config;                       /* borrowed: outlives the shares */
    const char *node;                                  /* borrowed */
    int folder;                                        /* <live_dir>/<node>, borrowed */
    struct node_readings *readings;                    /* borrowed; NULL: none */
    void (*say)(int priority, const char *format, ...) /* to the system's log */
        __attribute__((format(printf, 2, 3)));
};

/**
 * The node's own record: a line for each hour in <acct_dir>/<day>/<node>.hours. A sampler that
 * begins or ends within an hour writes the line of its part.
 */
struct hours {
    const struct node_shares_settings *settings;
    char cluster[64];
    const char *method;
    int64_t before_ns; /* the end of the last sampler's line since 1970 [ns]; 0: not known, or it
                          was used */
    bool begun;        /* `hour` is the current one */
    struct hour hour;
    struct hours_job *job; /* being written by a thread; NULL: none */
};

/** @param settings  borrowed */
void hours_open(struct hours *hours, const struct node_shares_settings *settings,
                const char *method);

/** An interval. */
struct hours_interval {
    const struct node_reading *reading;
    const struct share_totals *totals; /* of the interval */
    size_t running, begun;             /* steps in it, and those that were not in the last one */
};

/**
 * Add an interval to the hour in which it ends. When an hour has passed, its line and `idle` are
 * written by another thread.
 */
void hours_add(struct hours *hours, const struct hours_interval *interval,
               const struct node_idle *idle);

/** Add what steps were given that no interval had the energy for: unattributed is below 0. [J] */
void hours_owe(struct hours *hours, const double owed_j[APAPI_DOMAINS]);

/** Write the line of the present hour. Waits 2 s at most for a slow file system. */
void hours_close(struct hours *hours, const struct node_idle *idle);

#endif
