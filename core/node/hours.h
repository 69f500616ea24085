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
 * begins or ends within an hour writes the line of its part. <spool_dir>/<node>.hour has the lines
 * that could not be written yet, and each checkpoint adds the present one: they are tried again
 * with each checkpoint, and by the next sampler. Another thread writes them, and `idle`.
 */
struct node_hours {
    const struct node_shares_settings *settings; /* borrowed */
    const struct node_idle *idle;                /* borrowed */
    const char *method;                          /* of the shares */
    char cluster[64];
    char path[PATH_MAX]; /* in the spool; "": nowhere */
    int64_t before_ns; /* where the last sampler's line ends since 1970 [ns]; 0: unknown, or used */
    uint64_t saved_ns; /* the last checkpoint */
    bool begun;        /* `hour` is the current one */
    struct hour hour;
    int64_t until_ns; /* up to where this sampler's lines reach since 1970 [ns] */
    char *passed;     /* lines of hours that have passed, for the next thread; NULL: none */
    /* Of the thread that writes, while there is one. */
    bool writing;
    bool ended;  /* an hour has passed */
    bool warned; /* the log says that something could not be written */
    pthread_t thread;
    char *waiting; /* lines that are not in acct_dir yet; NULL: none. It does not change them */
    char *left;    /* its result: those that are not in acct_dir even now; NULL: all */
    char *line;    /* of the present hour, for the spool; NULL: none */
    struct idle_kept kept;
    struct apapi_error problem;
};

/** Write what the sampler before has left. `settings`, `idle` and `method` are set, all else 0. */
void node_hours_open(struct node_hours *hours);

/**
 * Add an interval to the hour in which it ends.
 * @param running  steps that run
 * @param begun    those that have begun in it, some of which have ended
 */
void node_hours_add(struct node_hours *hours, const struct node_reading *reading,
                    const struct share_totals *totals, size_t running, size_t begun);

/**
 * Write the line of the present hour. If the accounting's file system does not answer, it waits in
 * the spool.
 * @param owed_j  what steps were given that no interval had the energy for [J]
 * @return whether no thread uses `hours` any more
 */
bool node_hours_close(struct node_hours *hours, const double owed_j[APAPI_DOMAINS]);

#endif
