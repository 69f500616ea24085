/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_IDLE_H
#define NODE_IDLE_H
#include <limits.h>

#include "apapi/error.h"
#include "measure/share.h"

#define LEAST_S 10 /* so long a mean does not depend on when a meter moves */

#define NODE_PEAKS 32

/** The highest power that a gauge has shown, of so many readings. */
struct node_peak {
    char name[APAPI_NAME_SIZE]; /* of its event; "": none, nor behind it */
    double most_w;
    uint64_t seen;
};

/** The file <spool_dir>/<node>.idle: what the next node sampler goes on from. */
struct idle_kept {
    char magic[8];
    uint64_t size;
    struct idle_power powers[APAPI_DOMAINS + 1];   /* the last one: cores at work */
    struct idle_estimate estimates[APAPI_DOMAINS]; /* by fits, or by those of an earlier sampler */
    double least_w[APAPI_DOMAINS]; /* drawn in LEAST_S, with or without steps; NaN: not known */
    struct node_peak peaks[NODE_PEAKS]; /* used by node/readings */
};

/** Idle power: what a node draws while no step runs. */
struct node_idle {
    struct idle_kept kept;
    double since_s[APAPI_DOMAINS]; /* the meter moved, without a step [s]; NaN: a step has run */
    double idle_w[APAPI_DOMAINS];  /* NaN: not known */
    double error_w[APAPI_DOMAINS]; /* how far that may be wrong */
    double site_w;   /* the site's figure for packages and memory together; NaN: none */
    double refuse_w; /* the node has drawn so little, less than that; NaN: it has not */
    double cores;    /* at work; 0: not known */
    struct idle_fit fits[APAPI_DOMAINS];
    struct idle_window {
        double energy_j, seconds;
    } windows[APAPI_DOMAINS];      /* of the least power, so far */
    double spent_s[APAPI_DOMAINS]; /* CPU time since the meter moved; NaN: not known */
};

/** The path of a file of the node sampler. @return 0; -1: nowhere. */
int node_spool_path(char path[PATH_MAX], const char *spool_dir, const char *node,
                    const char *suffix);

/**
 * Read what was saved; nothing is known if that cannot be read.
 * @param site_w  the site's figure, a number; NULL: none
 */
void node_idle_load(struct node_idle *idle, const char *spool_dir, const char *node,
                    const char *site_w);

/** May wait for the disk. @return 0; -1 with errno. */
int node_idle_save(const struct idle_kept *kept, const char *spool_dir, const char *node,
                   struct apapi_error *err);

/** An interval in which no step ran. @param cpu_s  of all processes [s]; NaN: not known */
void node_idle_add(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds);

/**
 * Any interval: idle power is not above the least power, and what power without CPU time would be.
 * @param cpu_s   of all processes in the interval [s]; NaN: not known
 * @param span_s  since each meter moved
 */
void node_idle_bound(struct node_idle *idle, const double energy_j[APAPI_DOMAINS], double cpu_s,
                     const double span_s[APAPI_DOMAINS]);

/** An interval in which steps ran. */
void node_idle_interrupt(struct node_idle *idle);

/** @return idle power of the domains that add up [W]; NaN: of none it is known. */
double node_idle_w(const struct node_idle *idle);

#endif
