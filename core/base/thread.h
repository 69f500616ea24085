/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_THREAD_H
#define APAPI_BASE_THREAD_H
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

/** Start a thread that blocks all signals: the host program handles them. 0; -1 with errno. */
int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

/**
 * Initialize a condition whose waits end by CLOCK_MONOTONIC: setting the clock of the day neither
 * prolongs nor ends a wait.
 */
void thread_condition(pthread_cond_t *changed);

/** @return `ns` of clock_monotonic_ns() for pthread_cond_timedwait() */
static inline struct timespec thread_deadline(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
}

/* Waiting for a change of a word in shared memory. */

/**
 * Wait while `*word` is `value`, but not past `deadline_ns` (CLOCK_MONOTONIC). May return earlier.
 */
void futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline_ns);

/** Wake all threads that wait for the word. */
void futex_wake(const uint32_t *word);

#endif
