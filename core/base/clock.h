/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_CLOCK_H
#define APAPI_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/** Time that never jumps [ns]. */
static inline uint64_t clock_monotonic_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/** UTC since 1970 [ns]. */
static inline int64_t clock_unix_ns(void)
{
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

/** CPU time of the calling thread [ns]. */
static inline uint64_t clock_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
