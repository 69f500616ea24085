/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_READINGS_H
#define NODE_READINGS_H
#include <pthread.h>

#include "node/idle.h"
#include "session/session.h"
#include "sources/node/readings_page.h"

/**
 * Readings of the meters for the samplers of the steps: the page <live_dir>/<node>/readings. All
 * members are zero at first.
 */
struct node_readings {
    struct readings_page *page; /* NULL: none */
    struct node_peak
        peaks[NODE_PEAKS]; /* kept by the last node sampler, or latest by node_readings_keep() */
    pthread_mutex_t mutex; /* protects `peaks`, and writes to the page */
};

/**
 * Make the page. The readings of the last node sampler are dropped.
 * @param folder  of the node
 * @return 0; -1 with errno: there is no page
 */
int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err);

/** Write a reading to the page; for session_listen(), whose context is the struct node_readings. */
void node_readings_write(const struct session_reading *reading, void *context);

/** Get the highest powers that gauges have shown. Without a page `peaks` stays as it is. */
void node_readings_keep(struct node_readings *readings, struct node_peak peaks[NODE_PEAKS]);

/** Close the page, if there is one, after the session has ended. Readers that wait are woken. */
void node_readings_close(struct node_readings *readings);

/** Requests for a reading now (channel/ask.h), for the workers of the session. */
struct node_requests {
    struct apapi_session *session;
    int socket;          /* readable: node_requests_take(); -1: there are none */
    uint64_t counted_ns; /* when ASK_COUNT was last requested; 0: never */
    uint64_t second_ns;  /* when the present second began */
    unsigned count;      /* of requests in the present second */
};

/**
 * Accept requests, once the session runs.
 * @param folder  of the node
 * @return 0; -1 with errno: there will be no requests
 */
int node_requests_open(struct node_requests *requests, int folder, struct apapi_session *session,
                       struct apapi_error *err);

/** Hand a request over to the session. Waits 10 ms if there are too many in a second. */
void node_requests_take(struct node_requests *requests);

#endif
