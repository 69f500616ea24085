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

#define NOTED_MAX 16 /* at a time; more are not looked after in children */

typedef void (*descriptor_f)(int fd, void *context);

static const struct open_files *_Atomic noted[NOTED_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void for_each_descriptor(descriptor_f visit, void *context)
{
    DIR *dir = opendir("/proc/self/fd");

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

static void note(int fd, void *context)
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

/* In a child of fork(): only what a signal handler may call. */
static void mark_in_child(void)
{
    for (size_t i = 0; i < NOTED_MAX; i++) {
        const struct open_files *files = atomic_load(&noted[i]);

        for (int fd = 0; files && fd < OPEN_FILES_MAX; fd++) {
            if (!is_noted(files, fd)) {
                fcntl(fd, F_SETFD, FD_CLOEXEC);
            }
        }
    }
}

static void look_after_children(void)
{
    pthread_atfork(NULL, NULL, mark_in_child);
}

/* Put `now` into the first place that holds `old`. */
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
    memset(files, 0, sizeof *files);
    for_each_descriptor(note, files);
    pthread_once(&once, look_after_children);
    replace_noted(NULL, files);
}

static void close_new_on_exec(int fd, void *context)
{
    const struct open_files *before = context;

    if (fd < OPEN_FILES_MAX && !is_noted(before, fd)) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
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
