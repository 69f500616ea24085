/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/private_page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shared_page.h"

#define PREFIX "apapi-atime-"
#define PAGE "page"
#define SOCKET PAGE APAPI_LIVE_REGIONS

/* Nobody else can replace what this user makes in it, and readings do not wait for a disk. */
static bool private_page_is_good(const char *base)
{
    struct statfs kind;
    struct stat status;

    return base && *base == '/' &&
           strlen(base) + sizeof("/" PREFIX "XXXXXX") <= PRIVATE_PAGE_FOLDER_SIZE &&
           stat(base, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX) &&
           statfs(base, &kind) == 0 && kind.f_type == TMPFS_MAGIC;
}

static void private_page_describe(struct apapi_live_head *head)
{
    head->job = head->array_job = head->array_task = APAPI_LIVE_UNKNOWN;
    head->het_job = head->het_offset = head->tasks = APAPI_LIVE_UNKNOWN;
    head->uid = (uint32_t)geteuid();
    head->writer = (uint32_t)getpid();
}

int private_page_create(struct private_page *page, struct apapi_error *err)
{
    const char *const bases[] = {secure_getenv("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp"};

    *page = PRIVATE_PAGE_NONE;
    for (size_t i = 0; i < COUNT_OF(bases) && page->file < 0; i++) {
        if (private_page_is_good(bases[i])) {
            page->base = bases[i];
            page->file = open(bases[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        }
    }
    if (page->file < 0) {
        return apapi_fail(err, ENOENT,
                          "neither $XDG_RUNTIME_DIR nor /dev/shm nor /tmp is a memory file system "
                          "(tmpfs) that can be written");
    }
    page->page = shared_page_create(page->file, sizeof(*page->page));
    if (!page->page || fchmod(page->file, 0600) || shared_page_lock(page->file)) {
        apapi_fail(err, errno, "%.160s: %s", page->base, strerror(errno));
        private_page_close(page);
        return -1;
    }
    private_page_describe(&page->page->head);
    return 0;
}

/* A page whose lock can be had is of a process that has ended. */
static void private_page_remove_dead(int base, const char *name)
{
    int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), file = -1;
    struct stat status;

    if (folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid()) {
        file = openat(folder, PAGE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    }
    if (file >= 0 && shared_page_lock(file) == 0) {
        unlinkat(folder, PAGE, 0);
        unlinkat(folder, SOCKET, 0);
        unlinkat(base, name, AT_REMOVEDIR);
    }
    if (file >= 0) {
        close(file);
    }
    if (folder >= 0) {
        close(folder);
    }
}

static void private_page_sweep(const char *path)
{
    DIR *base = opendir(path);
    const struct dirent *entry;

    while (base && (entry = readdir(base))) {
        if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0) {
            private_page_remove_dead(dirfd(base), entry->d_name);
        }
    }
    if (base) {
        closedir(base);
    }
}

/* The modes do not depend on the umask. */
static int private_page_name(struct private_page *page)
{
    char self[32];

    snprintf(page->folder, sizeof page->folder, "%s/" PREFIX "XXXXXX", page->base);
    if (!mkdtemp(page->folder)) {
        page->folder[0] = '\0';
        return -1;
    }
    snprintf(page->path, sizeof page->path, "%s/" PAGE, page->folder);
    snprintf(self, sizeof self, "/proc/self/fd/%d", page->file);
    return chmod(page->folder, 0700) ||
                   linkat(AT_FDCWD, self, AT_FDCWD, page->path, AT_SYMLINK_FOLLOW)
               ? -1
               : 0;
}

int private_page_publish(struct private_page *page, struct apapi_error *err)
{
    private_page_sweep(page->base);
    if (private_page_name(page)) {
        apapi_fail(err, errno, "%.160s: %s", page->base, strerror(errno));
        private_page_withdraw(page);
        return -1;
    }
    return 0;
}

void private_page_withdraw(struct private_page *page)
{
    int saved = errno;

    if (*page->path) {
        unlink(page->path);
    }
    if (*page->folder) {
        rmdir(page->folder);
    }
    page->path[0] = page->folder[0] = '\0';
    errno = saved;
}

void private_page_close(struct private_page *page)
{
    int saved = errno;

    private_page_withdraw(page);
    if (page->page) {
        munmap(page->page, sizeof(*page->page));
    }
    if (page->file >= 0) {
        close(page->file);
    }
    *page = PRIVATE_PAGE_NONE;
    errno = saved;
}
