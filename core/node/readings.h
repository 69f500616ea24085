/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_READINGS_H
#define NODE_READINGS_H
#include <pthread.h>

#include "session/session.h"
#include "sources/node/readings_page.h"

/* What the meters show, for the samplers of the steps: the page <live_dir>/<node>/readings. */

/** Start with READINGS_NONE. */
struct node_readings {
    struct readings_page *page; /* NULL: none */
    int file;
    pthread_mutex_t mutex; /* protects what follows, and what is written to the page */
    size_t count;
    struct node_readings_of {
        char component[APAPI_COMPONENT_SIZE];
        int number; /* in the page; -1: it is not there */
    } known[READINGS_COMPONENTS];
};

#define NODE_READINGS_NONE                                                                         \
    {                                                                                              \
        .file = -1, .mutex = PTHREAD_MUTEX_INITIALIZER                                             \
    }

/**
 * Make the page.
 * @param folder  of the node
 * @return 0; -1 with errno: there is none
 */
int node_readings_open(struct node_readings *readings, int folder, struct apapi_error *err);

/** For session_listen(): its context are the readings. */
void node_readings_take(const struct session_reading *reading, void *context);

/** After the session has ended. */
void node_readings_close(struct node_readings *readings);

#endif
