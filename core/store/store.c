/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/timestamp.h"
#include "store/store.h"

static int check_arguments(const char *node, const char *line, struct apapi_error *err)
{
    if (folder_check_name(node) < 0) {
        return apapi_fail(err, EINVAL, "store: \"%s\" cannot be the name of a node", node);
    }
    if (strchr(line, '\n')) {
        return apapi_fail(err, EINVAL, "store: a record of more than one line");
    }
    return 0;
}

static bool last_line_is_torn(int fd, off_t size)
{
    char last;

    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static int store_write_line(int fd, const char *path, const char *line, bool torn,
                            struct apapi_error *err)
{
    size_t length = torn + strlen(line) + 1;
    char *bytes = malloc(length + 1);
    ssize_t written;
    int code;

    if (!bytes) {
        return apapi_fail(err, ENOMEM, "%s: out of memory", path);
    }
    snprintf(bytes, length + 1, "%s%s\n", torn ? "\n" : "", line);
    do {
        written = write(fd, bytes, length);
    } while (written < 0 && errno == EINTR);
    code = errno;
    free(bytes);
    if (written < 0) {
        return apapi_fail(err, code, "%s: %s", path, strerror(code));
    }
    if ((size_t)written < length) {
        return apapi_fail(err, ENOSPC, "%s: only %zd of %zu bytes written", path, written, length);
    }
    return 0;
}

/* A day's file of a node, and its folder. */
struct day_file {
    int folder, file;
    char path[PATH_MAX];
    off_t size;
};

static void store_leave(struct day_file *day_file)
{
    folder_close(day_file->file);
    folder_close(day_file->folder);
}

static int enter_below(struct day_file *day_file, int root, int flags, struct apapi_error *err)
{
    char day_path[PATH_MAX];
    struct stat status;

    snprintf(day_path, sizeof(day_path), "%.*s",
             (int)(strrchr(day_file->path, '/') - day_file->path), day_file->path);
    day_file->folder = folder_open_below(root, day_path, err);
    if (day_file->folder < 0) {
        return -1;
    }
    day_file->file = folder_open_file(day_file->folder, day_file->path, flags, &status, err);
    if (day_file->file < 0) {
        folder_close(day_file->folder);
        return -1;
    }
    day_file->size = status.st_size;
    return 0;
}

static int store_find(struct day_file *day_file, const char *dir, const char *node, int64_t unix_ns,
                      struct apapi_error *err)
{
    char day[TIMESTAMP_SIZE];

    timestamp_day(day, sizeof(day), unix_ns);
    if (snprintf(day_file->path, sizeof(day_file->path), "%s/%s/%s.jsonl", dir, day, node) >=
        (int)sizeof(day_file->path)) {
        return apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", dir);
    }
    return 0;
}

/* Open the file. On success, call store_leave() at the end. */
static int store_enter(struct day_file *day_file, const char *dir, int flags,
                       struct apapi_error *err)
{
    int root = folder_open(dir, err), rc;

    if (root < 0) {
        return -1;
    }
    rc = enter_below(day_file, root, flags, err);
    folder_close(root);
    return rc;
}

int apapi_store_append(const char *dir, const char *node, int64_t unix_ns, const char *line,
                       struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};
    int rc;

    /* readable, too: the last byte is checked */
    if (check_arguments(node, line, err) < 0 ||
        store_find(&day_file, dir, node, unix_ns, err) < 0 ||
        store_enter(&day_file, dir, O_RDWR | O_APPEND | O_CREAT, err) < 0) {
        return -1;
    }
    rc = store_write_line(day_file.file, day_file.path, line,
                          last_line_is_torn(day_file.file, day_file.size), err);
    if (rc == 0) {
        rc = close(day_file.file);
        day_file.file = -1;
        if (rc < 0) {
            apapi_fail(err, errno, "%s: %s", day_file.path, strerror(errno));
        }
    }
    store_leave(&day_file);
    return rc;
}

int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns, struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};
    int rc = 0;

    if (check_arguments(node, "", err) < 0 || store_find(&day_file, dir, node, unix_ns, err) < 0 ||
        store_enter(&day_file, dir, O_RDWR, err) < 0) {
        return -1;
    }
    if (fsync(day_file.file) < 0 || fsync(day_file.folder) < 0) {
        rc = apapi_fail(err, errno, "%s: %s", day_file.path, strerror(errno));
    }
    store_leave(&day_file);
    return rc;
}
