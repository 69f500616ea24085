/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_COMMON_H
#define SESSION_SESSION_COMMON_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "apapi/session.h"
#include "session/component.h"
#include "session/overflow.h"
#include "session/schedule.h"

/**
 * All workers of a session share it: the clock, and the receivers of their readings. It lives until
 * the session and the last of their threads have ended.
 */
struct session_common {
    struct session_clock *clock;
    struct component *components; /* the first of the session's */
    uint64_t start_ns, late_ns;   /* of the run, since it was asked for; set while none goes on */
    apapi_sample_f on_sample;     /* NULL: samples are not wanted */
    void *context;
    session_reading_f on_reading; /* NULL: raw values are not wanted */
    void *reading_context;
    struct apapi_live_page *live; /* NULL: none */
    apapi_live_shown_f on_live;   /* after a reading; NULL: none */
    void *live_context;
    pthread_mutex_t reporting;        /* one thread at a time in on_sample */
    pthread_mutex_t showing;          /* one thread at a time on the live page */
    struct feed shown[APAPI_DOMAINS]; /* whose figures it has */
    struct overflows overflows;
    atomic_uint references;
    void (*destroy)(struct session_common *common); /* when there is none any more */
};

/** With one reference. */
void common_init(struct session_common *common, struct session_clock *clock,
                 void (*destroy)(struct session_common *common));
void common_clear(struct session_common *common);

void common_hold(struct session_common *common);

/** Destroy it if this was the last reference. */
void common_release(struct session_common *common);

/** A run begins now. */
void common_start(struct session_common *common);

/* The following are for whoever may touch the component. */

/** It is open: show its events and its domains on the live page. */
void common_join(struct session_common *common, struct component *component);

/** Forget all its readings: a run begins. */
void common_restart(struct session_common *common, struct component *component);

/** Its source has just been called: call on_reading. @param dense  see struct session_reading */
void common_pass_on(struct session_common *common, const struct component *component,
                    struct apapi_moment when, bool dense);

/** It has just been read: show that, and call on_sample. */
void common_report(struct session_common *common, struct component *component);

/**
 * It will not be read any more in this run: the live page gets its result.
 * @param end_ns  of the run (CLOCK_MONOTONIC)
 */
void common_finish(struct session_common *common, struct component *component, uint64_t end_ns);

#endif
