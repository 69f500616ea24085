/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_ASKS_H
#define NODE_ASKS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "session/session.h"

/*
 * Who asks the node sampler for a reading now (channel/ask.h): a thread that hands the requests to
 * the workers of the session, and does nothing else, so that no disk can hold it up.
 */
struct node_asks {
    struct apapi_session *session;
    int socket, stop; /* -1: none */
    pthread_t thread;
    bool runs;
    atomic_uint_fast64_t counted_ns; /* when a reading that counts was asked for last; 0: never */
};

#define NODE_ASKS_NONE                                                                             \
    {                                                                                              \
        .socket = -1, .stop = -1                                                                   \
    }

/**
 * Listen, once the session runs.
 * @param folder  of the node
 * @return 0; -1 with errno: nobody can ask
 */
int node_asks_open(struct node_asks *asks, int folder, struct apapi_session *session,
                   struct apapi_error *err);

/** Before the session ends. */
void node_asks_close(struct node_asks *asks);

#endif
