/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/region_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/shared_page.h"
#include "base/thread.h"
#include "regions/observe/observe.h"

#define FOLDER_SIZE 90 /* with its NUL: a socket's path has 108 bytes at most */
#define PREFIX "apapi-atime-"
#define PAGE "page"
#define SOCKET PAGE APAPI_LIVE_REGIONS

/* --- its page --------------------------------------------------------------------------------- */

/*
 * A live page for the measured program alone, in a folder of mode 0700 that only this user can
 * enter. It is on a memory file system: $XDG_RUNTIME_DIR, /dev/shm or /tmp.
 */
struct private_page {
    struct apapi_live_page *page; /* NULL: none */
    int file;                     /* -1: not open */
    const char *base;
    char folder[FOLDER_SIZE];   /* "": it has no name */
    char path[FOLDER_SIZE + 5]; /* of the page in the folder */
};

#define PRIVATE_PAGE_NONE ((struct private_page){.file = -1})

/* @return whether no other user can replace our files in `base`, and readings wait for no disk. */
static bool private_page_is_good(const char *base)
{
    struct statfs kind;
    struct stat status;

    return base && *base == '/' && strlen(base) + sizeof("/" PREFIX "XXXXXX") <= FOLDER_SIZE &&
           stat(base, &status) == 0 && (status.st_uid == 0 || status.st_uid == geteuid()) &&
           (!(status.st_mode & (S_IWGRP | S_IWOTH)) || status.st_mode & S_ISVTX) &&
           statfs(base, &kind) == 0 && kind.f_type == TMPFS_MAGIC;
}

static void private_page_withdraw(struct private_page *page)
{
    if (*page->path) {
        unlink(page->path);
    }
    if (*page->folder) {
        rmdir(page->folder);
    }
    page->path[0] = page->folder[0] = '\0';
}

static void private_page_close(struct private_page *page)
{
    int saved = errno;

    private_page_withdraw(page);
    shared_page_unmap(page->page, sizeof *page->page);
    folder_close(page->file);
    *page = PRIVATE_PAGE_NONE;
    errno = saved;
}

/* Create the page without a name: nothing of it is left if the process is killed. */
static int private_page_create(struct private_page *page, struct apapi_error *err)
{
    const char *const bases[] = {secure_getenv("XDG_RUNTIME_DIR"), "/dev/shm", "/tmp"};
    struct apapi_live_head *head;

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
    head = &page->page->head;
    head->job = head->array_job = head->array_task = APAPI_LIVE_UNKNOWN;
    head->het_job = head->het_offset = head->tasks = APAPI_LIVE_UNKNOWN;
    head->uid = (uint32_t)geteuid();
    head->writer = (uint32_t)getpid();
    return 0;
}

/* Remove the folder of a process that was killed: its page is not locked any more. */
static void private_page_remove_dead(int base, const char *name, unsigned char type, void *context)
{
    int folder, file = -1;
    struct stat status;

    (void)type;
    (void)context;
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0) {
        return;
    }
    folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && fstat(folder, &status) == 0 && status.st_uid == geteuid()) {
        file = openat(folder, PAGE, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    }
    if (file >= 0 && shared_page_lock(file) == 0) {
        unlinkat(folder, PAGE, 0);
        unlinkat(folder, SOCKET, 0);
        unlinkat(base, name, AT_REMOVEDIR);
    }
    folder_close(file);
    folder_close(folder);
}

/* Give the page its name. The modes do not depend on the umask. */
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

/* --- its thread ------------------------------------------------------------------------------- */

struct region_watch {
    struct private_page page;
    pthread_mutex_t lock; /* protects `observer` */
    struct observer *observer;
    struct serve *serve; /* NULL: no thread */
    pthread_t thread;
    int stop; /* readable: the thread is to end */
};

struct region_watch *region_watch_open(struct apapi_error *err)
{
    const struct apapi_live_page *elsewhere = apapi_live_open(NULL, NULL);
    struct region_watch *watch;

    apapi_live_close(elsewhere);
    if (elsewhere) { /* the step, or another atime, has the regions */
        apapi_fail(err, EALREADY, "this process is measured, and so are the regions");
        return NULL;
    }
    watch = calloc(1, sizeof(*watch));
    if (!watch) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    watch->page = PRIVATE_PAGE_NONE;
    pthread_mutex_init(&watch->lock, NULL);
    watch->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (watch->stop < 0) {
        apapi_fail(err, errno, "%s", strerror(errno));
    }
    if (watch->stop < 0 || private_page_create(&watch->page, err)) {
        region_watch_close(watch);
        return NULL;
    }
    return watch;
}

struct apapi_live_page *region_watch_page(const struct region_watch *watch)
{
    return watch ? watch->page.page : NULL;
}

void region_watch_reading(const struct apapi_live_page *live, void *context)
{
    struct region_watch *watch = context;

    pthread_mutex_lock(&watch->lock);
    if (watch->observer) {
        observe_reading(live, watch->observer);
    }
    pthread_mutex_unlock(&watch->lock);
}

int region_watch_publish(struct region_watch *watch, struct apapi_error *err)
{
    char base[FOLDER_SIZE + 2];

    if (!watch) {
        return 0;
    }
    snprintf(base, sizeof base, "%s/.", watch->page.base); /* the base may be a link */
    folder_each(AT_FDCWD, base, private_page_remove_dead, NULL);
    if (private_page_name(&watch->page)) {
        apapi_fail(err, errno, "%.160s: %s", watch->page.base, strerror(errno));
        private_page_withdraw(&watch->page);
        return -1;
    }
    return setenv(APAPI_LIVE_ENVIRONMENT, watch->page.path, 1) ? apapi_fail(err, errno, "no memory")
                                                               : 0;
}

void region_watch_withdraw(struct region_watch *watch)
{
    if (watch) {
        region_watch_end(watch, NULL); /* the run of a program that could not be started */
        private_page_withdraw(&watch->page);
    }
}

static void *region_watch_listen(void *context)
{
    struct region_watch *watch = context;
    struct pollfd watched[] = {{.fd = watch->stop, .events = POLLIN}, {.events = POLLIN}};

    while (!watched[0].revents) {
        watched[1].fd = serve_descriptor(watch->serve);
        if (poll(watched, 2, serve_pause_ms(watch->serve)) >= 0) {
            serve_work(watch->serve);
            serve_tick(watch->serve);
        }
    }
    return NULL;
}

static void region_watch_set(struct region_watch *watch, struct observer *observer)
{
    pthread_mutex_lock(&watch->lock);
    watch->observer = observer;
    pthread_mutex_unlock(&watch->lock);
}

void region_watch_begin(struct region_watch *watch)
{
    if (!watch || !*watch->page.path) {
        return;
    }
    region_watch_set(watch, observe_create(watch->page.page));
    watch->serve =
        watch->observer ? serve_open(watch->page.path, geteuid(), watch->observer, NULL) : NULL;
    if (watch->serve && thread_start(&watch->thread, region_watch_listen, watch)) {
        serve_close(watch->serve);
        watch->serve = NULL;
    }
}

void region_watch_end(struct region_watch *watch, struct apapi_record *record)
{
    struct observer *observer;
    eventfd_t value = 1;

    if (!watch || !watch->observer) {
        return;
    }
    if (watch->serve) {
        eventfd_write(watch->stop, value);
        pthread_join(watch->thread, NULL);
        eventfd_read(watch->stop, &value);
        serve_close(watch->serve);
        watch->serve = NULL;
    }
    observer = watch->observer;
    if (record) {
        observe_result(observer, &record->measurement, &record->regions);
    }
    region_watch_set(watch, NULL);
    observe_destroy(observer);
}

void region_watch_close(struct region_watch *watch)
{
    if (!watch) {
        return;
    }
    region_watch_end(watch, NULL);
    private_page_close(&watch->page);
    folder_close(watch->stop);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}
