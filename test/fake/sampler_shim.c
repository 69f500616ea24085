/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into a sampler, it breaks what the sampler gets from the C library while a file exists:
 *   SHIM_CLOCK_BACK=FILE   the clock, but not the monotonic one, is set back by an hour
 *   SHIM_CRASH=FILE        the next look at a clock crashes
 *   SHIM_SLOW=FILE         the disk needs 300 ms for each sync
 *   SHIM_SYNC_FAILS=FILE   a sync fails (for descriptors of the accounting files only)
 *   SHIM_NO_SYNC=FILE      the disk's file system has no fsync()
 *   SHIM_NAMES_HELD=FILE   the user database does not answer
 *   SHIM_HELD=FILE         the file system of the accounting files does not answer
 *   SHIM_USERS_HELD=FILE   the same for user_records, where folders have the numbers of users
 */
#define _GNU_SOURCE /* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
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

static int shim_is_accounting(const char *path)
{
    const char *end = strrchr(path, '.');

    return end && strcmp(end, ".jsonl") == 0;
}

int fsync(int fd)
{
    char link[64], path[4096];
    ssize_t size;

    if (shim_wants("SHIM_SLOW")) {
        usleep(SYNC_US);
    }
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

/* @return whether a path is a user's folder. A part of a longer path is opened with O_PATH. */
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

int getpwuid_r(uid_t uid, struct passwd *entry, char *text, size_t size, struct passwd **found)
{
    while (shim_wants("SHIM_NAMES_HELD")) {
        usleep(LOOK_US);
    }
    snprintf(text, size, "user%u", (unsigned)uid);
    *entry = (struct passwd){.pw_name = text};
    *found = entry;
    return 0;
}
