/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SAMPLING_H
#define SESSION_SAMPLING_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/session.h"
#include "session/component.h"

struct lane;
struct snapshot;

enum sampling_command { SAMPLING_GO_ON, SAMPLING_STOP, SAMPLING_SHOW };

/**
 * The threads that read the components of a session, each at its own interval: one for all of
 * them, but for those that are `apart`. It lives until the last of the threads has ended.
 */
struct sampling {
    struct component *components;
    struct lane *lanes; /* one for each component; most have no thread */
    size_t count;
    char *order; /* of sources, for the components; NULL: their own */
    pthread_t thread;
    atomic_int command;       /* to the thread for all: enum sampling_command */
    struct snapshot *wanted;  /* with SAMPLING_SHOW */
    uint64_t cpu_ns;          /* of the thread for all; valid after sampling_stop() */
    uint64_t start_ns;        /* the first reading of all */
    apapi_sample_f on_sample; /* NULL: nobody wants to know */
    void *context;
    struct apapi_live_page *live;     /* NULL: none */
    pthread_mutex_t telling;          /* one thread at a time in on_sample */
    pthread_mutex_t showing;          /* one thread at a time on the live page */
    struct feed shown[APAPI_DOMAINS]; /* whose figures it has */
    atomic_uint references;
};

/** @return with `count` components of all zero; freed by sampling_end(). NULL: no memory. */
struct sampling *sampling_create(size_t count);

/** Wait for the components that are being opened by their own threads. */
void sampling_await_open(struct sampling *sampling, uint64_t patience_ns);

/** Read all components now, then start the threads. 0; -1 with errno EAGAIN. */
int sampling_start(struct sampling *sampling);

/**
 * End the thread for all, then read all components once more; those that are apart have
 * APAPI_STOP_WAIT_NS for it.
 * @return when the last reading was [ns]
 */
uint64_t sampling_stop(struct sampling *sampling);

/** @return CPU time of all threads between start and stop [ns]. */
uint64_t sampling_cpu_ns(struct sampling *sampling);

/** Let the thread for all fill a snapshot with what it reads, between two of its readings. */
void sampling_show(struct sampling *sampling, struct snapshot *snapshot);

/** Never mind. @return false if it is too late for that: it is being filled. */
bool sampling_hide(struct sampling *sampling);

/** As component_finish(). */
int sampling_result(struct sampling *sampling, size_t index, const struct apapi_span *span,
                    struct apapi_component_result *result, struct domain_results *domains);

/** After sampling_stop(): end and free, what hangs in its source excepted. NULL is allowed. */
void sampling_end(struct sampling *sampling);

/* For the threads. */

/** Forget all readings of a component: a run begins. */
void sampling_restart(struct sampling *sampling, struct component *component);

/** Tell what has just been read, if somebody wants to know. */
void sampling_tell(struct sampling *sampling, struct component *component);

/** A component is open: show its events and its domains on the live page. */
void sampling_join(struct sampling *sampling, struct component *component);

void sampling_hold(struct sampling *sampling);

/** Free, if nobody else holds it. */
void sampling_release(struct sampling *sampling);

#endif
