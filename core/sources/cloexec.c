/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/cloexec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "sources/settings.h"

#define FOLDER "/proc/self/fd"
#define NOTED_MAX 16 /* at a time; descriptors of more calls are not marked in children */

typedef void (*descriptor_f)(int fd, void *context);

static const struct open_files *_Atomic noted[NOTED_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void for_each_descriptor(descriptor_f visit, void *context)
{
    DIR *dir = opendir(FOLDER);

    if (!dir) {
        return;
    }
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);

        if (entry->d_name[0] != '.' && fd != dirfd(dir)) {
            visit(fd, context);
        }
    }
    closedir(dir);
}

static void cloexec_note(int fd, void *context)
{
    struct open_files *files = context;

    if (fd < OPEN_FILES_MAX) {
        files->bits[fd / 64] |= UINT64_C(1) << fd % 64;
    }
}

static bool is_noted(const struct open_files *files, int fd)
{
    return files->bits[fd / 64] >> fd % 64 & 1;
}

/* Make the name of a descriptor's link. A child of fork() must not call snprintf(). */
static void link_name(char name[sizeof FOLDER "/4294967295"], int fd)
{
    char digits[12], *digit = digits + sizeof digits;

    *--digit = '\0';
    do {
        *--digit = (char)('0' + fd % 10);
        fd /= 10;
    } while (fd > 0);
    stpcpy(stpcpy(name, FOLDER "/"), digit);
}

static bool cloexec_is_meter(int fd)
{
    static const char *const meters[] = {
        "/sys/",    "/proc/",    "/dev/cpu/", "/dev/nvidia", "/dev/dri/",
        "/dev/kfd", "/dev/ipmi", "/dev/mem",  "/dev/hsi",    "anon_inode:[perf_event]"};
    char name[sizeof FOLDER "/4294967295"], target[64];
    ssize_t length;

    link_name(name, fd);
    length = readlink(name, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    for (size_t i = 0; i < COUNT_OF(meters); i++) {
        if (strncmp(target, meters[i], strlen(meters[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void mark(const struct open_files *before, int fd)
{
    if (!is_noted(before, fd) && fcntl(fd, F_GETFD) == 0 && (before->all || cloexec_is_meter(fd))) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

/* Runs in a child of fork(): async-signal-safe calls only. */
static void mark_in_child(void)
{
    for (size_t i = 0; i < NOTED_MAX; i++) {
        const struct open_files *files = atomic_load(&noted[i]);

        for (int fd = 0; files && fd < OPEN_FILES_MAX; fd++) {
            mark(files, fd);
        }
    }
}

static void look_after_children(void)
{
    pthread_atfork(NULL, NULL, mark_in_child);
}

/* Replace the first entry `old` by `now`. */
static void replace_noted(const struct open_files *old, const struct open_files *now)
{
    for (size_t i = 0; i < NOTED_MAX; i++) {
        const struct open_files *expected = old;

        if (atomic_compare_exchange_strong(&noted[i], &expected, now)) {
            return;
        }
    }
}

void open_files_note(struct open_files *files)
{
    const char *whose = source_setting("descriptors", "close_on_exec");

    memset(files, 0, sizeof *files);
    files->all = whose && strcmp(whose, "all") == 0;
    for_each_descriptor(cloexec_note, files);
    pthread_once(&once, look_after_children);
    replace_noted(NULL, files);
}

static void close_new_on_exec(int fd, void *context)
{
    if (fd < OPEN_FILES_MAX) {
        mark(context, fd);
    }
}

void open_files_close_new_on_exec(const struct open_files *before)
{
    struct open_files copy = *before;
    int saved = errno;

    for_each_descriptor(close_new_on_exec, &copy);
    replace_noted(before, NULL);
    errno = saved;
}
