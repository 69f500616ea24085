/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SAMPLING_H
#define SESSION_SAMPLING_H
#include <stddef.h>
#include <stdint.h>

#include "session/worker.h"

/** The components of a session and the workers that read them, each at its own interval. */
struct sampling {
    struct session_common common;
    struct component *components;
    size_t count;
    char *order;          /* order of sources for the components; NULL: their own */
    struct worker shared; /* reads the components that have no own worker */
    struct worker *own;   /* one for each component; most have no thread */
};

/**
 * @param clock  outlives the sampling; NULL: the system's
 * @return a sampling with `count` components of all zeros, for sampling_end(). NULL: no memory.
 */
struct sampling *sampling_create(size_t count, struct session_clock *clock);

/**
 * Have the components that are `to_open` opened by their workers, and wait: for own workers as long
 * as `patience_ns`, for the shared worker at least APAPI_OPEN_WAIT_NS.
 */
void sampling_open(struct sampling *sampling, uint64_t patience_ns);

/**
 * Start the workers and wait for their first readings: at most APAPI_START_WAIT_NS for own
 * workers, at most APAPI_SHARED_WAIT_NS for the shared worker.
 * @return 0; -1 with errno EAGAIN.
 */
int sampling_start(struct sampling *sampling);

/**
 * Have all components read once more. Own workers have APAPI_STOP_WAIT_NS for this, the shared
 * worker has APAPI_SHARED_WAIT_NS.
 * @return when the last reading was [ns]
 */
uint64_t sampling_stop(struct sampling *sampling);

/** @return CPU time of all threads between start and stop [ns]. */
uint64_t sampling_cpu_ns(struct sampling *sampling);

/** Lock a component against its worker. @return the mutex, to be unlocked by the caller. */
pthread_mutex_t *sampling_lock(struct sampling *sampling, size_t index);

/** As session_read_now(). */
void sampling_read_now(struct sampling *sampling, const char *component, bool count);

/* Setting, changing and removing thresholds: as the functions of apapi/overflow.h. */
int overflow_add(struct sampling *sampling, const struct apapi_overflow *what,
                 struct apapi_error *err);
int overflow_change(struct sampling *sampling, int number, double threshold,
                    struct apapi_error *err);
int overflow_remove(struct sampling *sampling, int number);

/**
 * Lock all components against their workers: they stay as they are until sampling_release_all().
 * Waits for no source.
 */
void sampling_hold_all(struct sampling *sampling);
void sampling_release_all(struct sampling *sampling);

/** After sampling_stop(): end and free all, except what hangs in a source. NULL is allowed. */
void sampling_end(struct sampling *sampling);

#endif
