/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SAMPLING_H
#define SESSION_SAMPLING_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/session.h"
#include "session/component.h"

/** The one thread that reads all components of a session, each at its own interval. */
struct sampling {
    struct component *components;
    size_t count;
    pthread_t thread;
    atomic_int stop;
    uint64_t cpu_ns;          /* of the thread; valid after sampling_stop() */
    uint64_t start_ns;        /* the first reading of all */
    apapi_sample_f on_sample; /* NULL: nobody wants to know */
    void *context;
};

/** Read all components now, then start the thread. 0; -1 with errno EAGAIN. */
int sampling_start(struct sampling *sampling);

/** End the thread, then read all components once more. */
void sampling_stop(struct sampling *sampling);

#endif
