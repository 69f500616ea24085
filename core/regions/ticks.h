/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_TICKS_H
#define REGIONS_TICKS_H
#include <stdint.h>

#include "base/clock.h"
#include "regions/page.h"

/** @return the clock that costs least and is the same on all processors. Reads one file. */
enum page_clock ticks_choose(void);

/** @return the time on a clock that ticks_choose() can return. */
static inline uint64_t ticks_now(enum page_clock clock)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock == PAGE_CLOCK_CPU, 1)) {
        return __builtin_ia32_rdtsc(); /* <x86intrin.h> has 60,000 lines */
    }
#elif defined(__aarch64__)
    if (__builtin_expect(clock == PAGE_CLOCK_CPU, 1)) {
        uint64_t ticks;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        return ticks;
    }
#endif
    (void)clock;
    return clock_monotonic_ns();
}

/** The same instant on two clocks. */
struct ticks_moment {
    uint64_t ticks;
    uint64_t ns; /* CLOCK_MONOTONIC */
};

/** @return now. */
struct ticks_moment ticks_moment_now(enum page_clock clock);

/** @return length of a tick [ns], from two moments; the farther apart, the better. */
double ticks_length_ns(enum page_clock clock, struct ticks_moment first, struct ticks_moment last);

#endif
