/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    return entry->d_name[0] != '.';
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

static int look_at_node(struct scan *scan, int top, const char *node)
{
    struct dirent **names = NULL;
    int folder = openat(top, node, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int count, result = 0;

    if (folder < 0) {
        scan->counts.foreign += errno == EACCES;
        return 0;
    }
    count = scandirat(folder, ".", &names, is_visible, versionsort);
    for (int i = 0; i < count && result == 0; i++) {
        result = look_at_page(scan, folder, node, names[i]->d_name);
    }
    free_names(names, count);
    close(folder);
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
