/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOURCES_SOURCE_OVERFLOW_H
#define SOURCES_SOURCE_OVERFLOW_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

#define SOURCE_OVERFLOW_MAX 64 /* counters of one thread */

/**
 * Called in a signal, in the thread that was interrupted: only what is allowed there.
 * @param users    of the counters that have passed their thresholds, `count` of them
 * @param address  program counter
 * @param context  ucontext_t
 */
typedef void (*source_overflow_f)(void *const users[], size_t count, void *address,
                                  const void *context);

/** What is to be counted. */
struct source_overflow_order {
    const char *event; /* as PAPI names it */
    int threshold;     /* > 0 */
    bool software;     /* looked at by a timer */
    source_overflow_f handler;
    void *user;
};

struct source_overflow_counter;

/**
 * Interrupts of the thread that calls, each time that an event of the CPU was counted so often. Any
 * thread may have counters; all of a thread have the same `software`.
 */
struct source_overflow {
    /**
     * Count from now on. The thread's other counters begin again.
     * @return the counter; NULL with errno ENOENT (no such event), ENOTSUP (no interrupts for it),
     *         ENOSYS (no PAPI), EBUSY (PAPI counts in this thread for someone else, or with the
     *         other value of `software`), ENOSPC, ENOMEM, EINVAL, EIO
     */
    struct source_overflow_counter *(*begin)(const struct source_overflow_order *order,
                                             struct apapi_error *err);

    /** @return whether it counts the calling thread. */
    bool (*is_mine)(const struct source_overflow_counter *counter);

    /** End and free it. The thread's other counters begin again. Any thread. */
    void (*end)(struct source_overflow_counter *counter);
};

extern const struct source_overflow apapi_overflow_papi;

/** @return the one that there is. */
const struct source_overflow *apapi_route_overflow(void);

#endif
