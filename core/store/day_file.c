/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/day_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"

#define LOOKS_MAX 1000 /* at the end of a file to which others append all the time */

int day_file_name(struct day_file *day_file, const char *dir, const char *node, int64_t unix_ns,
                  struct apapi_error *err)
{
    char day[TIMESTAMP_SIZE];

    if (folder_check_name(node) < 0) {
        return apapi_fail(err, EINVAL, "store: \"%s\" cannot be the name of a node", node);
    }
    timestamp_day(day, sizeof(day), unix_ns);
    if (snprintf(day_file->path, sizeof(day_file->path), "%s/%s/%s.jsonl", dir, day, node) >=
        (int)sizeof(day_file->path)) {
        return apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", dir);
    }
    return 0;
}

int day_file_name_hours(struct day_file *day_file, const char *dir, const char *node,
                        int64_t unix_ns, struct apapi_error *err)
{
    int rc = day_file_name(day_file, dir, node, unix_ns, err);

    if (rc == 0) {
        strcpy(strrchr(day_file->path, '.'), ".hours"); /* no longer than .jsonl */
    }
    return rc;
}

int day_file_enter(struct day_file *day_file, int root, int flags, struct apapi_error *err)
{
    char day_path[PATH_MAX];

    snprintf(day_path, sizeof(day_path), "%.*s",
             (int)(strrchr(day_file->path, '/') - day_file->path), day_file->path);
    day_file->folder = folder_open_below(root, day_path, err);
    if (day_file->folder < 0) {
        return -1;
    }
    day_file->file =
        folder_open_file(day_file->folder, day_file->path, flags, &day_file->status, err);
    if (day_file->file < 0) {
        folder_close(day_file->folder);
        return -1;
    }
    return 0;
}

void day_file_leave(struct day_file *day_file)
{
    folder_close(day_file->file);
    folder_close(day_file->folder);
}

static bool ends_within_a_line(const struct day_file *day_file)
{
    char last;

    return day_file->status.st_size > 0 &&
           pread(day_file->file, &last, 1, day_file->status.st_size - 1) == 1 && last != '\n';
}

/*
 * While another process appends a line, the file ends within it: a write makes the file longer page
 * by page. So a line is torn only if no write is under way. fchmod() takes the inode's lock, which
 * a write holds to its end: after it, a line that was being written is complete.
 */
static bool last_line_is_torn(struct day_file *day_file)
{
    for (int i = 0; i < LOOKS_MAX && ends_within_a_line(day_file); i++) {
        off_t size = day_file->status.st_size;

        if (fchmod(day_file->file, day_file->status.st_mode & 07777) ||
            fstat(day_file->file, &day_file->status) || day_file->status.st_size == size) {
            return true;
        }
    }
    return ends_within_a_line(day_file);
}

static int day_file_write(struct day_file *day_file, const char *line, struct apapi_error *err)
{
    bool torn = last_line_is_torn(day_file);
    size_t length = torn + strlen(line) + 1;
    char *bytes = malloc(length + 1);
    ssize_t written;
    int code;

    if (!bytes) {
        return apapi_fail(err, ENOMEM, "%s: out of memory", day_file->path);
    }
    snprintf(bytes, length + 1, "%s%s\n", torn ? "\n" : "", line);
    do {
        written = write(day_file->file, bytes, length);
    } while (written < 0 && errno == EINTR);
    code = errno;
    free(bytes);
    if (written < 0) {
        return apapi_fail(err, code, "%s: %s", day_file->path, strerror(code));
    }
    if ((size_t)written < length) {
        return apapi_fail(err, ENOSPC, "%s: only %zd of %zu bytes written", day_file->path, written,
                          length);
    }
    return 0;
}

int day_file_append(struct day_file *day_file, const char *line, struct apapi_error *err)
{
    int result = day_file_write(day_file, line, err);

    if (result == 0) {
        result = close(day_file->file);
        day_file->file = -1;
        if (result < 0) {
            apapi_fail(err, errno, "%s: %s", day_file->path, strerror(errno));
        }
    }
    return result;
}
