/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/live_map.h"

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
    switch (errno) {
    case ENOENT: /* its step has just ended */
        break;
    case EACCES:
    case EPERM:
        counts->foreign++;
        break;
    case ESTALE:
        counts->dead++;
        break;
    default:
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
static int live_scan_look_at_folder(struct scan *scan, int folder, const char *path)
{
    struct dirent **names = NULL;
    int count = scandirat(folder, ".", &names, is_visible, versionsort), result = 0;

    for (int i = 0; i < count && result == 0; i++) {
        result = look_at_entry(scan, folder, path, names[i]->d_name);
    }
    free_names(names, count);
    return result;
}

/* The pages of a user, whose number the folder's name is. */
static int look_at_user(struct scan *scan, int folder, const char *path, const char *name)
{
    char user_path[PATH_MAX];
    int user = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result;

    if (user < 0) {
        scan->counts.foreign += errno == EACCES;
        return 0;
    }
    snprintf(user_path, sizeof user_path, "%s/%s", path, name);
    result = live_scan_look_at_folder(scan, user, user_path);
    close(user);
    return result;
}

static bool is_user(int folder, const char *name)
{
    struct stat status;

    return name[strspn(name, "0123456789")] == '\0' &&
           fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

/* Of the node, and not of a step. */
static bool is_node_page(const char *name)
{
    return strcmp(name, "node") == 0 || strcmp(name, "shares") == 0 ||
           strcmp(name, "readings") == 0;
}

static int look_at_entry(struct scan *scan, int folder, const char *path, const char *name)
{
    if (!strchr(path, '/') && is_node_page(name)) {
        return 0;
    }
    if (!strchr(path, '/') && is_user(folder, name)) {
        return look_at_user(scan, folder, path, name);
    }
    return look_at_page(scan, folder, path, name);
}

/* Root lists the users, each of whom knows his own folder only. */
static int look_at_node(struct scan *scan, int top, const char *node)
{
    int folder = openat(top, node, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), result = 0;
    char own[16];

    if (folder < 0 && errno == EACCES) {
        folder = openat(top, node, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        snprintf(own, sizeof own, "%u", (unsigned)geteuid());
        result = folder < 0 ? 0 : look_at_user(scan, folder, node, own);
    } else if (folder >= 0) {
        result = live_scan_look_at_folder(scan, folder, node);
    }
    if (folder >= 0) {
        close(folder);
    }
    return result;
}

static int look_at_all(struct scan *scan, int top, struct apapi_error *err)
{
    struct dirent **names = NULL;
    int count = scandirat(top, ".", &names, is_visible, versionsort);
    int result = 0;

    if (count < 0) {
        return apapi_fail(err, errno, "%s: %s", scan->dir, strerror(errno));
    }
    for (int i = 0; i < count && result == 0; i++) {
        result = look_at_node(scan, top, names[i]->d_name);
    }
    free_names(names, count);
    return result;
}

int apapi_live_scan(const char *dir, apapi_live_f look, void *context,
                    struct apapi_live_counts *counts, struct apapi_error *err)
{
    struct scan scan = {.dir = dir ? dir : APAPI_LIVE_DIR, .look = look, .context = context};
    int top = open(scan.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = 0;

    if (top >= 0) {
        result = look_at_all(&scan, top, err);
        close(top);
    } else if (errno != ENOENT) {
        result = apapi_fail(err, errno, "%s: %s", scan.dir, strerror(errno));
    }
    if (counts) {
        *counts = scan.counts;
    }
    return result;
}
