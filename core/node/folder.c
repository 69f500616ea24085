/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/folder.h"

static int node_folder_fail(const char *path, struct apapi_error *err)
{
    return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
}

/* A folder that was made just now has mode 0700; the site made those with another mode. */
static int node_folder_let_in(int folder, const char *path, mode_t mode, struct apapi_error *err)
{
    struct stat status;

    if (fstat(folder, &status)) {
        return node_folder_fail(path, err);
    }
    if ((status.st_uid != 0 && status.st_uid != geteuid()) ||
        status.st_mode & (S_IWGRP | S_IWOTH)) {
        return apapi_fail(err, EPERM, "%s: others than root can change what is in it", path);
    }
    if ((status.st_mode & 0777) == 0700 && status.st_uid == geteuid() && fchmod(folder, mode)) {
        return node_folder_fail(path, err);
    }
    return 0;
}

/* On a disk, readings would sometimes wait for it, and totals would outlive the counters. */
static int node_folder_check_memory(int folder, const char *path, struct apapi_error *err)
{
    struct statfs status;

    if (fstatfs(folder, &status)) {
        return node_folder_fail(path, err);
    }
    return status.f_type == TMPFS_MAGIC
               ? 0
               : apapi_fail(err, EMEDIUMTYPE, "%s: not on a memory file system (tmpfs)", path);
}

int node_folder_open(const char *live_dir, const char *node, struct apapi_error *err)
{
    char path[PATH_MAX];
    int top, folder = -1;

    if (folder_check_name(node) ||
        snprintf(path, sizeof path, "%s/%s", live_dir, node) >= (int)sizeof path) {
        return apapi_fail(err, EINVAL, "\"%s\" cannot be the name of a node", node);
    }
    top = folder_open(live_dir, err);
    if (top < 0) {
        return -1;
    }
    if (node_folder_let_in(top, live_dir, 0755, err) == 0 &&
        node_folder_check_memory(top, live_dir, err) == 0) {
        folder = folder_open_below(top, path, err);
    }
    folder_close(top);
    if (folder >= 0 && node_folder_let_in(folder, path, 0711, err)) {
        folder_close(folder);
        folder = -1;
    }
    return folder;
}

/* All memory now: later, a lack of it would end the process with SIGBUS. */
void *node_folder_map(int folder, const char *name, size_t size, int *file, struct apapi_error *err)
{
    struct stat status;
    void *memory = MAP_FAILED;

    *file = folder_open_file(folder, name, O_CREAT | O_RDWR, &status, err);
    if (*file < 0) {
        return NULL;
    }
    errno = status.st_size < (off_t)size ? posix_fallocate(*file, 0, (off_t)size) : 0;
    if (errno == 0) {
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *file, 0);
    }
    if (memory == MAP_FAILED) {
        node_folder_fail(name, err);
        folder_close(*file);
        *file = -1;
        return NULL;
    }
    return memory;
}
