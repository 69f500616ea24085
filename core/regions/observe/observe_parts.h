/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_OBSERVE_PARTS_H
#define OBSERVE_OBSERVE_PARTS_H
#include <pthread.h>
#include <stdatomic.h>

#include "apapi/live.h"
#include "measure/fit.h"
#include "regions/observe/bands.h"
#include "regions/observe/program.h"

#define OBSERVE_DEPTH 32 /* of the shell's regions */

/* Columns of the fits beside those of struct fit. */
enum { COLUMN_UNMARKED = FIT_PARTS, COLUMN_COMMON, COLUMN_FIRST };
#define COLUMN_NONE FIT_OUTSIDE /* which is no region's */

/** The rows of a domain, and where the next one begins. */
struct observe_domain {
    struct fit *fit; /* NULL: no program has come while it was measured */
    uint64_t time_ns;
    double total_j;
    double times_s[FIT_COLUMNS];
};

/** A region of the step's shell. */
struct observe_shell {
    size_t node;
    double begin_j[APAPI_DOMAINS];
};

struct observer {
    pthread_mutex_t lock;
    atomic_bool active;
    const struct apapi_live_page *live;
    struct observed *programs;
    size_t program_count;
    struct ticks_moment first; /* when it was created */
    uint64_t looked_ns;
    struct observed_room room;
    bool ending; /* the room only gets smaller */
    struct nodes nodes;
    uint16_t columns[NODES_MAX]; /* by node */
    size_t column_count;
    double times_s[FIT_COLUMNS]; /* by column, since the beginning */
    double common_s[NODES_MAX];  /* by node: time that is in COLUMN_COMMON */
    unsigned held;               /* somebody works with these columns: they stay */
    double news_s[NODES_MAX];    /* by node, of all threads: since the last look */
    double threads_s;            /* the sum of these */
    struct bands bands;
    struct observe_domain domains[APAPI_DOMAINS];
    size_t depth;
    struct observe_shell shell[OBSERVE_DEPTH];
    size_t fom_count;
    struct apapi_fom foms[APAPI_FOMS_MAX];
    struct apapi_region_losses losses;
};

/** Add the time since the last look to all sums. Reads all pages. With the lock. */
void observe_look(struct observer *observer);

/** The same, if that is not more often than the number of programs allows. With the lock. */
void observe_look_sometimes(struct observer *observer);

/** Add time since the last look to a column. With the lock. */
void observe_add_time(struct observer *observer, size_t column, double time_s);

/** The same of a node, to its column. With the lock. */
void observe_add_node_time(struct observer *observer, size_t node, double time_s);

/**
 * Let a region of the common column have one of its own, in place of one with much less time, which
 * joins the common one with its past. Memory stays as it is. With the lock.
 */
void observe_change_columns(struct observer *observer);

/** Go from nothing to sums. 0; -1 with ENOMEM. */
int observe_activate(struct observer *observer);

#endif
