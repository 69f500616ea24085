/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_HOURS_H
#define NODE_HOURS_H
#include <pthread.h>

#include "config/config.h"
#include "measure/share.h"
#include "node/idle.h"
#include "node/meters.h"
#include "record/hour.h"

struct node_readings;

/** Settings of the shares and the hours of a node. */
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
 * begins or ends within an hour writes a line for its part. <spool_dir>/<node>.hour has the lines
 * that could not be written yet and, since the last checkpoint, the line of the present hour. Each
 * checkpoint and the next sampler try them again. A thread of its own writes all lines and `idle`.
 */
struct node_hours {
    const struct node_shares_settings *settings; /* borrowed */
    const struct node_idle *idle;                /* borrowed */
    const char *method;                          /* of the shares */
    char cluster[64];
    char path[PATH_MAX]; /* of <node>.hour; "": none */
    int64_t before_ns;   /* end of the last sampler's line since 1970 [ns]; 0: unknown, or used */
    uint64_t saved_ns;   /* when the last checkpoint was made */
    bool begun;          /* `hour` holds the present hour */
    struct hour hour;
    int64_t until_ns; /* end of this sampler's latest line since 1970 [ns] */
    char *passed; /* lines of hours that have passed, which the next thread writes; NULL: none */
    /* The thread that writes, and its data while it runs. */
    bool writing;
    bool ended;  /* the thread writes an hour that has passed */
    bool warned; /* the log says that something could not be written */
    pthread_t thread;
    char *waiting; /* lines that are not in acct_dir yet; NULL: none. The thread only reads them */
    char *left; /* the thread's result: lines that are still not in acct_dir; NULL: all of them */
    char *line; /* the present hour's, for the spool; NULL: none */
    struct idle_kept kept;
    struct apapi_error problem;
};

/** Write the lines that the last sampler left. `settings`, `idle`, `method` are set, all else 0. */
void node_hours_open(struct node_hours *hours);

/**
 * Add an interval to the hour in which it ends.
 * @param running  number of steps that run
 * @param begun    number of steps that have begun in the interval, even if they have ended
 */
void node_hours_add(struct node_hours *hours, const struct node_reading *reading,
                    const struct share_totals *totals, size_t running, size_t begun);

/**
 * Write the line of the present hour. If the accounting's file system does not answer, the line
 * waits in the spool.
 * @param owed_j  energy that records give to steps and that no interval had left [J]
 * @return whether no thread uses `hours` any more
 */
bool node_hours_close(struct node_hours *hours, const double owed_j[APAPI_DOMAINS]);

#endif
