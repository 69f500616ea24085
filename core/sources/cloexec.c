/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/cloexec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

typedef void (*descriptor_f)(int fd, void *context);

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

void open_files_note(struct open_files *files)
{
    memset(files, 0, sizeof *files);
    for_each_descriptor(note, files);
}

static void close_new_on_exec(int fd, void *context)
{
    const struct open_files *before = context;

    if (fd < OPEN_FILES_MAX && !(before->bits[fd / 64] >> fd % 64 & 1)) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

void open_files_close_new_on_exec(const struct open_files *before)
{
    struct open_files copy = *before;
    int saved = errno;

    for_each_descriptor(close_new_on_exec, &copy);
    errno = saved;
}
