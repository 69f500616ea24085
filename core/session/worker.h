/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_WORKER_H
#define SESSION_WORKER_H
#include "session/worker_step.h"

/** Prepare an own worker. Both arguments must outlive it. */
void worker_init(struct worker *worker, struct session_common *common, struct component *component);

/** Prepare the shared worker. @param own  one for each of the components, prepared */
void worker_init_shared(struct worker *worker, struct session_common *common,
                        struct component *components, size_t count, struct worker *own);

void worker_clear(struct worker *worker);

/** The source has ended the thread in the middle of a call. Called without the mutex, once. */
void worker_lost(void *worker);

/* Orders. Called without the mutex. */

/** Open the component, prepared by component_begin(). What fails is its reason. */
void worker_open(struct worker *worker);

/**
 * A run begins: read all components now, then each at its interval.
 * @return 0; -1 with errno EAGAIN: no thread could be started.
 */
int worker_run(struct worker *worker);

/** Wait until the source is open, or cannot be opened. */
void worker_await_open(struct worker *worker, uint64_t deadline_ns);

/** Wait for the first readings of the run, but for sources that are still being opened. */
void worker_await_first(struct worker *worker, uint64_t deadline_ns);

/**
 * Have a component of a run read as soon as its source is free: a reading that begins after this.
 * With the mutex. @param count  it counts as usual ones do; else it is only passed on
 */
void worker_want(struct worker *worker, struct component *component, bool count);

/** Ask for the last readings of the run. */
void worker_ask_last(struct worker *worker);

/**
 * Wait for them and end the run. What has no last reading gets that as its reason.
 * @param patience_ns  since the last readings were asked for, which was at `asked_ns`
 * @return when the latest of them was [ns]; 0: there was none in time.
 */
uint64_t worker_await_last(struct worker *worker, uint64_t asked_ns, uint64_t patience_ns);

/** @return CPU time in the latest run, so far if it goes on [ns]. */
uint64_t worker_cpu_ns(struct worker *worker);

/** Close the sources and end the thread. */
void worker_dismiss(struct worker *worker);

/** Wait for that; a thread that hangs is left to itself, and so is what it holds. */
void worker_await_end(struct worker *worker, uint64_t deadline_ns);

#endif
