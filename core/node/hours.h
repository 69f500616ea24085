/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_HOURS_H
#define NODE_HOURS_H
#include "config/settings.h"
#include "measure/share.h"
#include "node/meters.h"
#include "record/hour.h"

/** Where the shares and the hours of a node are kept. */
struct node_shares_settings {
    const struct config *config;                       /* borrowed: outlives the shares */
    const char *node;                                  /* borrowed */
    int folder;                                        /* <live_dir>/<node>, borrowed */
    void (*say)(int priority, const char *format, ...) /* to the system's log */
        __attribute__((format(printf, 2, 3)));
};

/** Idle power: what a node draws while no step runs. <spool_dir>/<node>.idle keeps it. */
struct node_idle {
    struct idle_power powers[APAPI_DOMAINS + 1]; /* the last one: cores at work */
    double since_s[APAPI_DOMAINS]; /* the meter moved, without a step [s]; NaN: a step has run */
    double idle_w[APAPI_DOMAINS];  /* NaN: not known */
    double cores;                  /* at work; 0: not known */
};

/** Read what was saved; nothing is known if that cannot be read. */
void node_idle_load(struct node_idle *idle, const char *spool_dir, const char *node);

/** An interval in which no step ran. @param cpu_s  of all processes [s]; NaN: not known */
void node_idle_add(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds);

/** An interval in which steps ran. */
void node_idle_interrupt(struct node_idle *idle);

/** @return idle power of the domains that add up [W]; NaN: of none it is known. */
double node_idle_w(const struct node_idle *idle);

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
