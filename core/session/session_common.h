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
 * State that all workers of a session share: the clock, and the receivers of their readings. It
 * lives until the session and the last of its threads have ended.
 */
struct session_common {
    struct session_clock *clock;
    struct component *components; /* the session's list */
    uint64_t start_ns, late_ns;   /* start of a run, delay since the request; set between runs */
    apapi_sample_f on_sample;     /* NULL: samples are not wanted */
    void *context;
    session_reading_f on_reading; /* NULL: raw values are not wanted */
    void *reading_context;
    struct apapi_live_page *live; /* NULL: none */
    apapi_live_shown_f on_live;   /* called after a reading; NULL: none */
    void *live_context;
    pthread_mutex_t reporting;        /* one thread at a time in on_sample */
    pthread_mutex_t showing;          /* one thread at a time on the live page */
    struct feed shown[APAPI_DOMAINS]; /* the component that each domain's figures are from */
    struct overflows overflows;
    atomic_uint references;
    void (*destroy)(struct session_common *common); /* called when no reference is left */
};

/** Initialize, with one reference. */
void common_init(struct session_common *common, struct session_clock *clock,
                 void (*destroy)(struct session_common *common));
void common_clear(struct session_common *common);

void common_hold(struct session_common *common);

/** Give a reference back; the last one destroys the structure. */
void common_release(struct session_common *common);

/** Begin a run now. */
void common_start(struct session_common *common);

/* The following need the mutex of the component's worker, if its threads have been started. */

/** Show the events and domains of a component that is now open on the live page. */
void common_join(struct session_common *common, struct component *component);

/** Forget all readings of a component: a run begins. */
void common_restart(struct session_common *common, struct component *component);

/** Call on_reading() after a call of the source. @param dense  see struct session_reading */
void common_pass_on(struct session_common *common, const struct component *component,
                    struct apapi_moment when, bool dense);

/** Show a new reading on the live page, look at thresholds, and call on_sample(). */
void common_report(struct session_common *common, struct component *component);

/** @return whether the caller is on_sample() or on_live() of this session, which hold its locks. */
bool common_is_telling(const struct session_common *common);

/**
 * Show the result of a component on the live page: it is not read any more in this run.
 * @param end_ns  end of the run (CLOCK_MONOTONIC)
 */
void common_finish(struct session_common *common, struct component *component, uint64_t end_ns);

#endif
