/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_HOURS_H
#define NODE_HOURS_H
#include <pthread.h>
#include <stdbool.h>

#include "measure/share.h"
#include "node/reading.h"
#include "node/rest.h"
#include "node/shares_settings.h"
#include "store/hour.h"

/*
 * The node's own record: a line for each hour in <acct_dir>/<day>/<node>.hours. A sampler that
 * begins or ends within an hour writes the line of its part.
 */

struct hours_job;

struct hours {
    const struct node_shares_settings *settings;
    char cluster[64];
    const char *method;
    int64_t
        before_ns; /* the last sampler's line ended [ns since 1970]; 0: not known, or explained */
    bool begun;    /* `hour` is the current one */
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
 * Add an interval to the hour in which it ends. When an hour has passed, its line and `rest` are
 * written by another thread.
 */
void hours_add(struct hours *hours, const struct hours_interval *interval,
               const struct node_rest *rest);

/** Add what steps were given that no interval had the energy for: it is nobody's, below 0. [J] */
void hours_owe(struct hours *hours, const double owed_j[APAPI_DOMAINS]);

/** Write what there is of this hour. Waits 2 s at most for a slow file system. */
void hours_close(struct hours *hours, const struct node_rest *rest);

#endif
