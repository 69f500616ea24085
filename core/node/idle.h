/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IDLE_H
#define NODE_IDLE_H
#include <limits.h>

#include "apapi/error.h"
#include "measure/share.h"

#define LEAST_S 10 /* a mean over this time does not depend on when a meter moves [s] */

#define NODE_PEAKS 32

/** The highest power that a gauge has shown, and the number of its readings. */
struct node_peak {
    char name[APAPI_NAME_SIZE]; /* of the gauge's event; "": all places from here on are free */
    double most_w;
    uint64_t seen;
};

/** Contents of the file <spool_dir>/<node>.idle, from which the next node sampler continues. */
struct idle_kept {
    char magic[8];
    uint64_t size;
    struct idle_power powers[APAPI_DOMAINS + 1];   /* by domain; the last one: cores at work */
    struct idle_estimate estimates[APAPI_DOMAINS]; /* by `fits`, or by an earlier sampler's fits */
    double least_w[APAPI_DOMAINS];      /* least mean over LEAST_S, steps or not; NaN: not known */
    struct node_peak peaks[NODE_PEAKS]; /* used by node/readings */
};

/** Idle power: what a node draws while no step runs. */
struct node_idle {
    struct idle_kept kept;
    double since_s[APAPI_DOMAINS]; /* time since the meter moved [s]; NaN: a step has run since */
    double idle_w[APAPI_DOMAINS];  /* NaN: not known */
    double error_w[APAPI_DOMAINS]; /* how far idle_w may be wrong */
    double site_w;   /* the site's idle power of packages and memory together; NaN: none */
    double refuse_w; /* sum of least_w, if site_w is above it and not used; NaN: it is not above */
    double cores;    /* at work while no step runs; 0: not known */
    struct idle_fit fits[APAPI_DOMAINS];
    struct idle_window {
        double energy_j, seconds;
    } windows[APAPI_DOMAINS];      /* the present window of each domain, for least_w */
    double spent_s[APAPI_DOMAINS]; /* CPU time since the meter moved [s]; NaN: not known */
};

/** Make the path of a file of the node sampler. @return 0; -1: there is no place for the file. */
int node_spool_path(char path[PATH_MAX], const char *spool_dir, const char *node,
                    const char *suffix);

/**
 * Read what node_idle_save() saved. If the file cannot be read, all values are unknown.
 * @param site_w  the site's idle power, a number as text [W]; NULL: none
 */
void node_idle_load(struct node_idle *idle, const char *spool_dir, const char *node,
                    const char *site_w);

/** Save `kept`. May wait for the disk. @return 0; -1 with errno. */
int node_idle_save(const struct idle_kept *kept, const char *spool_dir, const char *node,
                   struct apapi_error *err);

/** Add an interval in which no step ran. @param cpu_s  of all processes [s]; NaN: not known */
void node_idle_add(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds);

/**
 * Add any interval to the bounds of idle power: least power, and the fit of power at no CPU time.
 * @param cpu_s   CPU time of all processes in the interval [s]; NaN: not known
 * @param span_s  time since each meter moved [s]
 */
void node_idle_bound(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                     const double span_s[APAPI_DOMAINS]);

/** Note that steps ran in an interval. */
void node_idle_interrupt(struct node_idle *idle);

/** @return idle power of the domains that add up [W]; NaN: it is known of none. */
double node_idle_w(const struct node_idle *idle);

#endif
