/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_READINGS_H
#define NODE_READINGS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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
    pthread_mutex_t mutex; /* protects what follows, and what is written to the page */
    size_t count;
    struct node_readings_of {
        char component[APAPI_COMPONENT_SIZE];
        int number; /* in the page; -1: it is not there */
    } known[READINGS_COMPONENTS];
};

/**
 * Make the page.
 * @param folder  of the node
 * @return 0; -1 with errno: there is none
 */
int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err);

/** For session_listen(): its context are the readings. */
void node_readings_write(const struct session_reading *reading, void *context);

/** The powers that its gauges have shown, to be kept. Without a page they stay as they are. */
void node_readings_keep(struct node_readings *readings, struct node_peak peaks[NODE_PEAKS]);

/** After the session has ended, also without a page. */
void node_readings_close(struct node_readings *readings);

/**
 * Requests for a reading now (channel/ask.h): a thread hands them to the workers of the session,
 * and does nothing else, so that no disk can delay it. All of zero at first.
 */
struct node_requests {
    struct apapi_session *session;
    int socket, stop;
    pthread_t thread;
    bool runs;
    atomic_uint_fast64_t counted_ns; /* the last request for a reading that counts; 0: none */
};

/**
 * Accept requests, once the session runs.
 * @param folder  of the node
 * @return 0; -1 with errno: there will be none
 */
int node_requests_open(struct node_requests *requests, int folder, struct apapi_session *session,
                       struct apapi_error *err);

/** Before the session ends, also if there are none. */
void node_requests_close(struct node_requests *requests);

#endif
