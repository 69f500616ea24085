/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"

static void live_page_forget(struct apapi_live_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        slots[i].total = slots[i].rate = slots[i].uncertainty_j = NAN;
    }
}

void live_page_init(struct apapi_live_page *page)
{
    struct apapi_live_head *head = &page->head;

    memcpy(head->magic, APAPI_LIVE_MAGIC, sizeof head->magic);
    head->version = APAPI_LIVE_VERSION;
    head->size = sizeof *page;
    live_page_forget(page->domains, APAPI_LIVE_DOMAINS);
    live_page_forget(page->events, APAPI_LIVE_EVENTS);
}

/* Require a live page of root or the caller. A page of another version may have another size. */
static int live_check(int file, const char *path, struct apapi_error *err)
{
    struct stat status;
    struct {
        char magic[8];
        uint32_t version, size;
    } begin;

    if (fstat(file, &status)) {
        return file_fail(path, err);
    }
    if (!S_ISREG(status.st_mode)) {
        return apapi_fail(err, EPROTO, "%s: not a regular file", path);
    }
    if (status.st_uid != 0 && status.st_uid != geteuid()) {
        return apapi_fail(err, EPROTO, "%s: belongs to user %u, not to root", path,
                          (unsigned)status.st_uid);
    }
    if (pread(file, &begin, sizeof begin, 0) != sizeof begin ||
        memcmp(begin.magic, APAPI_LIVE_MAGIC, sizeof begin.magic) != 0) {
        return apapi_fail(err, EPROTO, "%s: not a live page", path);
    }
    if (begin.version != APAPI_LIVE_VERSION) {
        return apapi_fail(err, ENOTSUP, "%s: version %u of the live page; this is version %d", path,
                          begin.version, APAPI_LIVE_VERSION);
    }
    if (begin.size != sizeof(struct apapi_live_page) || status.st_size != begin.size) {
        return apapi_fail(err, EPROTO, "%s: does not have the size of a live page", path);
    }
    return shared_page_has_writer(file) ? 0
                                        : apapi_fail(err, ESTALE, "%s: no process writes it", path);
}

/* Map a page that live_check() accepts. @return as apapi_live_open() */
static const struct apapi_live_page *live_map(int folder, const char *name, const char *path,
                                              struct apapi_error *err)
{
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    void *page = MAP_FAILED;

    if (file < 0 && (errno == ELOOP || errno == ENXIO)) { /* a link, a socket */
        apapi_fail(err, EPROTO, "%s: not a regular file", path);
    } else if (file < 0) {
        file_fail(path, err);
    } else if (live_check(file, path, err) == 0) {
        page = mmap(NULL, sizeof(struct apapi_live_page), PROT_READ, MAP_SHARED, file, 0);
        if (page == MAP_FAILED) {
            file_fail(path, err);
        }
    }
    folder_close(file);
    return page == MAP_FAILED ? NULL : page;
}

const struct apapi_live_page *apapi_live_open(const char *path, struct apapi_error *err)
{
    if (!path) {
        path = secure_getenv(APAPI_LIVE_ENVIRONMENT);
    }
    if (!path || !*path) {
        apapi_fail(err, ENOENT, "%s is not set: this is no job step that is measured",
                   APAPI_LIVE_ENVIRONMENT);
        return NULL;
    }
    return live_map(AT_FDCWD, path, path, err);
}

void apapi_live_close(const struct apapi_live_page *page)
{
    shared_page_unmap(page, sizeof *page);
}

struct scan {
    const char *dir;
    apapi_live_f look;
    void *context;
    struct apapi_live_counts counts;
};

static int is_visible(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), suffix = strlen(APAPI_LIVE_REGIONS);

    return entry->d_name[0] != '.' &&
           (length < suffix || strcmp(entry->d_name + length - suffix, APAPI_LIVE_REGIONS) != 0);
}

static void count_failure(struct apapi_live_counts *counts)
{
    if (errno == EACCES || errno == EPERM) {
        counts->foreign++;
    } else if (errno == ESTALE) {
        counts->dead++;
    } else if (errno != ENOENT) { /* its step has just ended */
        counts->broken++;
    }
}

static int look_at_page(struct scan *scan, int folder, const char *node, const char *name)
{
    char path[PATH_MAX];
    const struct apapi_live_page *page;
    int result;

    snprintf(path, sizeof path, "%s/%s/%s", scan->dir, node, name);
    page = live_map(folder, name, path, NULL);
    if (!page) {
        count_failure(&scan->counts);
        return 0;
    }
    scan->counts.pages++;
    result = scan->look(page, scan->context);
    apapi_live_close(page);
    return result;
}

static void free_names(struct dirent **names, int count)
{
    int saved = errno;

    for (int i = 0; i < count; i++) {
        free(names[i]);
    }
    free(names);
    errno = saved;
}

static int look_at_entry(struct scan *scan, int folder, const char *path, const char *name);

/* @param path  of the folder, below scan->dir */
static int look_at_folder(struct scan *scan, int folder, const char *path)
{
    struct dirent **names = NULL;
    int count = scandirat(folder, ".", &names, is_visible, versionsort), result = 0;

    for (int i = 0; i < count && result == 0; i++) {
        result = look_at_entry(scan, folder, path, names[i]->d_name);
    }
    free_names(names, count);
    return result;
}

/* Look at the pages of a user. The name of the folder is the user's UID. */
static int look_at_user(struct scan *scan, int folder, const char *path, const char *name)
{
    char user_path[PATH_MAX];
    int user = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result;

    if (user < 0) {
        scan->counts.foreign += errno == EACCES;
        return 0;
    }
    snprintf(user_path, sizeof user_path, "%s/%s", path, name);
    result = look_at_folder(scan, user, user_path);
    close(user);
    return result;
}

static bool is_user(int folder, const char *name)
{
    struct stat status;

    return name[strspn(name, "0123456789")] == '\0' &&
           fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int look_at_entry(struct scan *scan, int folder, const char *path, const char *name)
{
    bool of_node = !strchr(path, '/');

    if (of_node && (strcmp(name, "node") == 0 || strcmp(name, "shares") == 0 ||
                    strcmp(name, "readings") == 0)) {
        return 0; /* pages of the node, and not of a step */
    }
    return of_node && is_user(folder, name) ? look_at_user(scan, folder, path, name)
                                            : look_at_page(scan, folder, path, name);
}

/* Look at the pages of a node. Root can list all users' folders, a user can open one: the own. */
static int look_at_node(struct scan *scan, int top, const char *node)
{
    int folder = openat(top, node, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = 0;
    char own[16];

    if (folder < 0 && errno == EACCES) {
        folder = openat(top, node, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(own, sizeof own, "%u", (unsigned)geteuid());
        result = folder < 0 ? 0 : look_at_user(scan, folder, node, own);
    } else if (folder >= 0) {
        result = look_at_folder(scan, folder, node);
    }
    folder_close(folder);
    return result;
}

int apapi_live_scan(const char *dir, apapi_live_f look, void *context,
                    struct apapi_live_counts *counts, struct apapi_error *err)
{
    struct scan scan = {.dir = dir ? dir : APAPI_LIVE_DIR, .look = look, .context = context};
    int top = open(scan.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirent **names = NULL;
    int count = top >= 0 ? scandirat(top, ".", &names, is_visible, versionsort) : -1, result = 0;

    if (count < 0 && !(top < 0 && errno == ENOENT)) {
        result = apapi_fail(err, errno, "%s: %s", scan.dir, strerror(errno));
    }
    for (int i = 0; i < count && result == 0; i++) {
        result = look_at_node(&scan, top, names[i]->d_name);
    }
    free_names(names, count);
    folder_close(top);
    if (counts) {
        *counts = scan.counts;
    }
    return result;
}
