/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: the monotonic clock of a machine that has been up for a long time.
 *   LIVE_CLOCK=stands   the clock stands still
 *   LIVE_CLOCK=goes     the clock runs
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UP_S 1000000

static bool is_asked(const char *word)
{
    const char *asked = getenv("LIVE_CLOCK");

    return asked && strcmp(asked, word) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int result = (int)syscall(SYS_clock_gettime, clock, time);

    if (clock == CLOCK_MONOTONIC && is_asked("stands")) {
        *time = (struct timespec){.tv_sec = UP_S};
    } else if (clock == CLOCK_MONOTONIC && is_asked("goes")) {
        time->tv_sec += UP_S;
    }
    return result;
}

/* Wait until a time of the clock above. If that clock stands still, do not wait. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left)
{
    struct timespec until = *wanted;

    if (clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME && is_asked("stands")) {
        return 0;
    }
    if (clock == CLOCK_MONOTONIC && flags == TIMER_ABSTIME && is_asked("goes")) {
        until.tv_sec -= UP_S;
    }
    return syscall(SYS_clock_nanosleep, clock, flags, &until, left) == 0 ? 0 : errno;
}
