/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_READINGS_H
#define NODE_READINGS_H
#include <pthread.h>

#include "node/idle.h"
#include "session/session.h"
#include "sources/node/readings_page.h"

/**
 * Readings of the meters for the samplers of the steps: the page <live_dir>/<node>/readings. All of
 * zero at first.
 */
struct node_readings {
    struct readings_page *page; /* NULL: none */
    struct node_peak
        peaks[NODE_PEAKS]; /* as the node sampler before has kept them; as latest kept */
    pthread_mutex_t mutex; /* protects these, and what is written to the page */
};

/**
 * Make the page. Readings of the node sampler before are forgotten.
 * @param folder  of the node
 * @return 0; -1 with errno: there is none
 */
int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err);

/** For session_listen(): its context are the readings. */
void node_readings_write(const struct session_reading *reading, void *context);

/** The powers that its gauges have shown, to be kept. Without a page they stay as they are. */
void node_readings_keep(struct node_readings *readings, struct node_peak peaks[NODE_PEAKS]);

/** After the session has ended, also without a page. Readers that wait are woken. */
void node_readings_close(struct node_readings *readings);

/** Requests for a reading now (channel/ask.h), for the workers of the session. */
struct node_requests {
    struct apapi_session *session;
    int socket;          /* readable: node_requests_take(); -1: there are none */
    uint64_t counted_ns; /* the last request for a reading that counts; 0: none */
    uint64_t second_ns;  /* when the present second began */
    unsigned count;      /* of requests in it */
};

/**
 * Accept requests, once the session runs.
 * @param folder  of the node
 * @return 0; -1 with errno: there will be none
 */
int node_requests_open(struct node_requests *requests, int folder, struct apapi_session *session,
                       struct apapi_error *err);

/** Hand one over. Waits where there are too many. */
void node_requests_take(struct node_requests *requests);

#endif
