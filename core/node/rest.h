/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_REST_H
#define NODE_REST_H
#include <stdint.h>

#include "apapi/error.h"
#include "measure/share.h"

/* What a node draws while no step runs. <spool_dir>/<node>.idle keeps it over restarts. */

struct node_rest {
    struct idle_power power[APAPI_DOMAINS], busy; /* the latter of cores at work */
    double since_s[APAPI_DOMAINS]; /* the meter moved, without a step [s]; NaN: a step has run */
    double idle_w[APAPI_DOMAINS];  /* NaN: not known */
    double cores;                  /* at work; 0: not known */
};

/** Read what was saved; nothing is known if that cannot be read. */
void node_rest_load(struct node_rest *rest, const char *spool_dir, const char *node);

/** @return when it was saved, with the last line of the node's own record [ns since 1970]; 0: never
 */
int64_t node_rest_saved_ns(const char *spool_dir, const char *node);

/** 0; -1 with errno. Allocates, and may wait for the disk. */
int node_rest_save(struct node_rest *rest, const char *spool_dir, const char *node,
                   struct apapi_error *err);

/** An interval in which no step ran. @param cpu_s  of all processes [s]; NaN: not known */
void node_rest_add(struct node_rest *rest, const double energy_j[APAPI_DOMAINS], double cpu_s,
                   double seconds);

/** An interval in which steps ran. */
void node_rest_busy(struct node_rest *rest);

/** @return idle power of the domains that add up [W]; NaN: of none it is known. */
double node_rest_w(const struct node_rest *rest);

#endif
