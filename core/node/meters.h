/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_METERS_H
#define NODE_METERS_H
#include <pthread.h>
#include <stdbool.h>

#include "apapi/live.h"
#include "apapi/session.h"
#include "node/reading.h"
#include "node/state.h"

/*
 * All that the node draws. The session's workers bring readings; totals go on from those of the
 * sampler before, with what the counters have counted in between.
 */
struct node_meters {
    struct node_state state;
    struct apapi_live_page *shown; /* the node page */
    struct apapi_live_page *live;  /* the session's own: its totals begin with this process */
    pthread_mutex_t mutex;         /* protects all that follows, and what is written to the above */
    int file;                      /* of the node page: its lock shows that it is written */
    int news;                      /* an eventfd: something was read */
    double seen_j[APAPI_DOMAINS];  /* of the session's totals, counted already */
    uint64_t seen_ns[APAPI_DOMAINS];
    unsigned resets;
    bool node_meter;    /* Slurm is told what the node's own meter shows */
    uint64_t before_ns; /* the latest reading of the sampler before; 0: none */
    /* For node_meters_take(): what it has told. */
    uint64_t taken_ns;
    double taken_j[APAPI_DOMAINS], taken_gpu_j[NODE_GPUS];
    bool gap;
};

/**
 * Map the node page and go on from the state.
 * @param folder  of the node
 * @return 0; -1 with errno, EWOULDBLOCK: another node sampler runs.
 */
int node_meters_open(struct node_meters *meters, int folder, const char *node,
                     struct apapi_error *err);

/** For the session: an apapi_sample_f whose context are the meters. */
void node_meters_sample(const struct apapi_sample *sample, void *context);

/** @return whether all domains have been read since `since_ns`, CLOCK_MONOTONIC. */
bool node_meters_are_newer(struct node_meters *meters, uint64_t since_ns);

/** What was read since the last call. @return whether there is something. */
bool node_meters_take(struct node_meters *meters, struct node_reading *reading);

/** Free, after the session has ended. */
void node_meters_close(struct node_meters *meters);

#endif
