/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_DELIVER_H
#define SESSION_OVERFLOW_DELIVER_H
#include <stdbool.h>
#include <stdint.h>

#include "session/session_common.h"

/*
 * The thread that calls the handlers of thresholds. In simulated time there is none: then
 * overflow_flush() and overflow_await_left() call them.
 */

/** With the mutex of the overflows: have a thread. @return 0; -1 with errno EAGAIN. */
int overflow_start(struct session_common *common);

/** Wait until all is told, but not in a handler. */
void overflow_flush(struct session_common *common, uint64_t patience_ns);

/**
 * With the mutex of the overflows: wait until all is told of a threshold that was removed, but not
 * in a handler.
 * @return 0; -1 with errno EBUSY: it has taken too long, and the rest is dropped
 */
int overflow_await_left(struct session_common *common, int number, uint64_t patience_ns);

/** Begin no further call of a handler. */
void overflow_dismiss(struct session_common *common);

/** Wait until that thread has ended; if a handler hangs, it is left to itself. */
void overflow_end(struct session_common *common, uint64_t deadline_ns);

/* --- thresholds that PAPI counts -------------------------------------------------------------- */

/*
 * Thresholds that PAPI counts. A signal in the thread that is counted notes where it was, in a ring
 * that nobody else writes; the thread that calls handlers reads it.
 */

/** @return whether `what` is for PAPI. */
static inline bool overflow_is_cpu(const struct apapi_overflow *what)
{
    return (what->mode & (APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE)) != 0;
}

/** Is it a threshold that PAPI can count? 0; -1 with errno EINVAL, ERANGE. */
int overflow_cpu_check(const struct apapi_overflow *what, struct apapi_error *err);

/** Count in the calling thread from now on. @return NULL with errno as source_overflow.begin. */
struct overflow_cpu *overflow_cpu_begin(struct overflows *overflows, int number,
                                        const struct apapi_overflow *what, struct apapi_error *err);

/** @return whether it counts the calling thread. */
bool overflow_cpu_is_mine(const struct overflow_cpu *cpu);

/** Count no longer. NULL is allowed, and one that has ended. */
void overflow_cpu_end(struct overflow_cpu *cpu);

#endif
