/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "store/day_file.h"

/* Open the file. On success, call day_file_leave() at the end. */
static int store_enter(struct day_file *day_file, const char *dir, int flags,
                       struct apapi_error *err)
{
    int root = folder_open(dir, err), rc;

    if (root < 0) {
        return -1;
    }
    rc = day_file_enter(day_file, root, flags, err);
    folder_close(root);
    return rc;
}

static int store_append(struct day_file *day_file, const char *dir, const char *line,
                        struct apapi_error *err)
{
    int rc;

    if (strchr(line, '\n')) {
        return apapi_fail(err, EINVAL, "store: a record of more than one line");
    }
    /* readable, too: the last byte is checked */
    if (store_enter(day_file, dir, O_RDWR | O_APPEND | O_CREAT, err) < 0) {
        return -1;
    }
    rc = day_file_append(day_file, line, err);
    day_file_leave(day_file);
    return rc;
}

int apapi_store_append(const char *dir, const char *node, int64_t unix_ns, const char *line,
                       struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};

    return day_file_name(&day_file, dir, node, unix_ns, err) < 0
               ? -1
               : store_append(&day_file, dir, line, err);
}

int apapi_store_append_hour(const char *dir, const char *node, int64_t unix_ns, const char *line,
                            struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};

    return day_file_name_hours(&day_file, dir, node, unix_ns, err) < 0
               ? -1
               : store_append(&day_file, dir, line, err);
}

int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns, struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};
    int rc = 0;

    if (day_file_name(&day_file, dir, node, unix_ns, err) < 0 ||
        store_enter(&day_file, dir, O_RDWR, err) < 0) {
        return -1;
    }
    if (fsync(day_file.file) < 0 || fsync(day_file.folder) < 0) {
        rc = apapi_fail(err, errno, "%s: %s", day_file.path, strerror(errno));
    }
    day_file_leave(&day_file);
    return rc;
}
