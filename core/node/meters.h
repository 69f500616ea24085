/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_METERS_H
#define NODE_METERS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/live.h"
#include "apapi/session.h"
#include "node/steps.h"

/* Files of the node sampler in <live_dir>/<node>, besides the folders of the users. */
#define NODE_PAGE "node"     /* a live page: all that the node has drawn since the page was made */
#define NODE_SHARES "shares" /* the shares of the steps */
#define NODE_STATE ".state"  /* the next node sampler continues from it */

/**
 * Open the folder of a node. Missing folders are created, as for live pages.
 * @return descriptor; -1 with errno of the call that failed, EPERM: other users could change its
 * contents, EMEDIUMTYPE: not on a memory file system, EINVAL: `node` cannot be a name.
 */
int node_folder_open(const char *live_dir, const char *node, struct apapi_error *err);

/**
 * Open or create a file in the node's folder, and map it with at least `size` bytes of memory.
 * @param file  result: the file's descriptor; NULL: the descriptor is closed
 * @return the mapped memory; NULL with errno
 */
void *node_folder_map(int folder, const char *name, size_t size, int *file,
                      struct apapi_error *err);

/** Energy of the node between two readings of its meters. Times are CLOCK_MONOTONIC [ns]. */
struct node_reading {
    uint64_t begin_ns, end_ns;
    int64_t end_unix_ns;            /* the end in UTC since 1970 [ns] */
    double energy_j[APAPI_DOMAINS]; /* [J]; NaN: not known */
    unsigned gpus;                  /* entries of gpu_energy_j in use: greatest index + 1 */
    double gpu_energy_j[NODE_GPUS]; /* by the GPU's index [J]; NaN: not known */
    unsigned resets;                /* counters that began again */
    bool unseen;                    /* no sampler ran in a part of the interval */
};

/**
 * All that the node draws. The session's workers bring readings. Totals continue those of the last
 * sampler, with what the counters have counted in between. All members are zero at first.
 */
struct node_meters {
    struct node_state *state;      /* the next sampler continues from it */
    struct apapi_live_page *shown; /* the node page */
    struct apapi_live_page *live;  /* the session's own page: its totals begin with this process */
    pthread_mutex_t mutex;         /* protects the members below, and writes to those above */
    int file;                      /* of the node page; its lock shows that a sampler writes it */
    int news;                      /* an eventfd: something was read */
    double seen_j[APAPI_DOMAINS];  /* the part of the session's totals that is counted [J] */
    uint64_t seen_ns[APAPI_DOMAINS];
    unsigned resets;
    bool node_meter;    /* Slurm is told the energy of the node's own meter */
    double sum_j;       /* greatest sum of the meters that count, up to now [J] */
    uint64_t before_ns; /* when the last sampler read last; 0: there was none */
    /* State at the last call of node_meters_next(). */
    uint64_t last_ns;
    double last_j[APAPI_DOMAINS], last_gpu_j[NODE_GPUS];
    bool unseen;
};

/**
 * Map the node page, and continue from the page and the state.
 * @param folder      of the node
 * @param node_meter  Slurm is told the energy of the node's own meter
 * @return 0; -1 with errno, EWOULDBLOCK: another node sampler runs
 */
int node_meters_open(struct node_meters *meters, int folder, const char *node, bool node_meter,
                     struct apapi_error *err);

/** Count a sample: the session's apapi_sample_f, whose context is the struct node_meters. */
void node_meters_sample(const struct apapi_sample *sample, void *context);

/** @return whether all measured domains have been read since `since_ns`, CLOCK_MONOTONIC. */
bool node_meters_are_newer(struct node_meters *meters, uint64_t since_ns);

/**
 * Copy page and state into another folder of the node: the next node sampler continues from there.
 * @return 0; -1 with errno as node_folder_map()
 */
int node_meters_copy(struct node_meters *meters, int folder, struct apapi_error *err);

/** Get the energy since the last call. @return false: nothing was read since then. */
bool node_meters_next(struct node_meters *meters, struct node_reading *reading);

/** Free the meters, after the session has ended; also after node_meters_open() has failed. */
void node_meters_close(struct node_meters *meters);

#endif
