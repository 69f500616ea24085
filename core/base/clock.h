/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_CLOCK_H
#define APAPI_BASE_CLOCK_H
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

/** @return a time below 292 years as a double [ns]: by way of int64_t, one instruction, not six. */
static inline double duration(uint64_t ns)
{
    return (double)(int64_t)ns;
}

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

/** @return the time until `due_ns`, rounded up, as poll(2) takes it [ms]; 0: it is over. */
static inline int clock_left_ms(uint64_t due_ns)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t left_ms = due_ns > now_ns ? (due_ns - now_ns + 999999) / 1000000 : 0;

    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/** @return the shorter one of two times for poll(2) [ms]; -1: indefinitely. */
static inline int clock_sooner_ms(int one_ms, int other_ms)
{
    return other_ms < 0 || (one_ms >= 0 && one_ms < other_ms) ? one_ms : other_ms;
}

/** UTC since 1970 [ns]. */
static inline int64_t clock_unix_ns(void)
{
    return (int64_t)clock_ns(CLOCK_REALTIME);
}

#define CLOCK_PAIR_TRIES 8
#define CLOCK_PAIR_NS 5000 /* maximum time between reading the two clocks [ns] */

/** Read the same instant on both clocks, even if the process is interrupted in between. */
static inline void clock_pair(int64_t *unix_ns, uint64_t *monotonic_ns)
{
    uint64_t least_ns = UINT64_MAX;

    for (int i = 0; i < CLOCK_PAIR_TRIES && least_ns > CLOCK_PAIR_NS; i++) {
        uint64_t before_ns = clock_monotonic_ns();
        int64_t now_ns = clock_unix_ns();
        uint64_t after_ns = clock_monotonic_ns();

        if (after_ns - before_ns < least_ns) {
            least_ns = after_ns - before_ns;
            *unix_ns = now_ns;
            *monotonic_ns = after_ns;
        }
    }
}

/** CPU time of the calling thread [ns]. */
static inline uint64_t clock_thread_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#define TIMESTAMP_SIZE 40 /* bytes of a timestamp with its NUL */

/** Write a time as "2026-11-21T11:20:01.123456789Z". */
void timestamp_format(char *text, size_t size, int64_t unix_ns);

/** Parse one with 0 to 9 decimals. @return 0; -1 with EINVAL (no valid time), ERANGE (64 bits). */
int timestamp_parse(const char *text, int64_t *unix_ns);

/** Write the day in UTC as "2026-11-21". */
void timestamp_day(char *text, size_t size, int64_t unix_ns);

#endif
