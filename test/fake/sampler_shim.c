/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a sampler, breaks what it gets from the C library while a file exists:
 *   SHIM_CLOCK_BACK=FILE   the clock (not the monotonic one) was set back by an hour
 *   SHIM_CRASH=FILE        the next look at a clock is a crash
 *   SHIM_SLOW=FILE         the disk needs 300 ms until something is on it
 *   SHIM_SYNC_FAILS=FILE   and cannot take it (descriptors of the accounting files alone)
 *   SHIM_NO_SYNC=FILE      or its file system knows no fsync()
 *   SHIM_HELD=FILE         the file system of the accounting files does not answer
 *   SHIM_USERS_HELD=FILE   nor that of user_records, in which folders have the numbers of users
 */
#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BACK_S 3600
#define SYNC_US 300000
#define LOOK_US 10000

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

static void shim_delay_sync(void)
{
    if (shim_wants("SHIM_SLOW")) {
        usleep(SYNC_US);
    }
}

static int shim_is_accounting(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && strcmp(end, ".jsonl") == 0;
}

int fsync(int fd)
{
    char link[64], path[4096];
    ssize_t size;

    shim_delay_sync();
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    size = readlink(link, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    if (shim_is_accounting(path) && shim_wants("SHIM_SYNC_FAILS")) {
        errno = ENOSPC;
        return -1;
    }
    if (shim_is_accounting(path) && shim_wants("SHIM_NO_SYNC")) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}

/* Not a part of a longer path, which is opened with O_PATH. */
static int shim_is_user(const char *path, int flags)
{
    return !(flags & O_PATH) && *path && path[strspn(path, "0123456789")] == '\0';
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list rest;
    int mode;

    va_start(rest, flags);
    mode = flags & O_CREAT ? va_arg(rest, int) : 0;
    va_end(rest);
    while ((shim_is_accounting(path) && shim_wants("SHIM_HELD")) ||
           (shim_is_user(path, flags) && shim_wants("SHIM_USERS_HELD"))) {
        usleep(LOOK_US);
    }
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}
