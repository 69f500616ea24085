/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a sampler, breaks what it gets from the C library while a file exists:
 *   SHIM_CLOCK_BACK=FILE   the clock (not the monotonic one) has been set back by an hour
 *   SHIM_CRASH=FILE        the next look at a clock is a crash
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BACK_S 3600

static int shim_wants(const char *variable)
{
    const char *file = getenv(variable);

    return file && access(file, F_OK) == 0;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, clock, time);

    if (shim_wants("SHIM_CRASH")) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile int *)0 = 0;
    }
    if (clock == CLOCK_REALTIME && shim_wants("SHIM_CLOCK_BACK")) {
        time->tv_sec -= BACK_S;
    }
    return (int)result;
}
