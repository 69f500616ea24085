/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/ticks.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/kernel_file.h"

#define TICKS_CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define TICKS_PAIR_TRIES 4

/* A process may have asked for a signal when it reads the counter. */
static bool ticks_allowed(void)
{
#if defined(__x86_64__)
    int mode = 0;

    return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
#else
    return true;
#endif
}

/* The kernel uses the counter for its own time only if it is the same on all processors. */
enum page_clock ticks_choose(void)
{
    char source[32];

    if (!ticks_allowed() ||
        kernel_file_read_word_at(AT_FDCWD, TICKS_CLOCKSOURCE, source, sizeof source)) {
        return PAGE_CLOCK_MONOTONIC;
    }
#if defined(__x86_64__)
    return strcmp(source, "tsc") == 0 ? PAGE_CLOCK_CPU : PAGE_CLOCK_MONOTONIC;
#elif defined(__aarch64__)
    return strcmp(source, "arch_sys_counter") == 0 ? PAGE_CLOCK_CPU : PAGE_CLOCK_MONOTONIC;
#else
    return PAGE_CLOCK_MONOTONIC;
#endif
}

/* Between two looks at the counter the time is read; the closest pair counts. */
struct ticks_moment ticks_moment_now(enum page_clock clock)
{
    struct ticks_moment best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < TICKS_PAIR_TRIES; i++) {
        uint64_t before = ticks_now(clock), ns = clock_monotonic_ns(), after = ticks_now(clock);

        if (after - before < least) {
            least = after - before;
            best = (struct ticks_moment){before + (after - before) / 2, ns};
        }
    }
    return best;
}

double ticks_length_ns(enum page_clock clock, struct ticks_moment first, struct ticks_moment last)
{
    if (clock == PAGE_CLOCK_MONOTONIC || last.ticks <= first.ticks || last.ns <= first.ns) {
        return 1;
    }
    return (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
}
