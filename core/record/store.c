/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"

/* --- a file of a day -------------------------------------------------------------------------- */

/* A day's file of a node, and its folder. */
struct day_file {
    const char *dir, *node, *suffix;
    int64_t unix_ns;
    int folder, file;
    char path[PATH_MAX];
    struct stat status; /* of the file, when it was opened or last looked at */
};

#define LOOKS_MAX 1000 /* looks at the end of a file to which others append all the time */

/*
 * Open <dir>/<YYYY-MM-DD>/<node><suffix>. On success, call day_file_close().
 * @param root  descriptor of the folder `dir`, which is closed here; -1: `dir` is opened
 */
static int day_file_open(struct day_file *day_file, int root, int flags, struct apapi_error *err)
{
    char day[TIMESTAMP_SIZE], folder[PATH_MAX];

    timestamp_day(day, sizeof day, day_file->unix_ns);
    day_file->folder = day_file->file = -1;
    if (folder_check_name(day_file->node)) {
        apapi_fail(err, EINVAL, "store: \"%s\" cannot be the name of a node", day_file->node);
    } else if (snprintf(folder, sizeof folder, "%s/%s", day_file->dir, day) >= PATH_MAX ||
               snprintf(day_file->path, sizeof day_file->path, "%s/%s%s", folder, day_file->node,
                        day_file->suffix) >= PATH_MAX) {
        apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", day_file->dir);
    } else if ((root = root < 0 ? folder_open(day_file->dir, err) : root) >= 0 &&
               (day_file->folder = folder_open_below(root, folder, err)) >= 0) {
        day_file->file =
            folder_open_file(day_file->folder, day_file->path, flags, &day_file->status, err);
    }
    if (day_file->file < 0) {
        folder_close(day_file->folder);
    }
    folder_close(root);
    return day_file->file < 0 ? -1 : 0;
}

static void day_file_close(struct day_file *day_file)
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
 * While another process appends a line, the file may end within this line: a write makes the file
 * longer page by page. So a line is torn only if no write is under way. fchmod() takes the inode's
 * lock, which a write holds to its end: after fchmod(), a line that was being written is complete.
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

/* Append a line with one write, which first ends a torn last line. */
static int day_file_append(struct day_file *day_file, const char *line, struct apapi_error *err)
{
    bool torn = last_line_is_torn(day_file);
    size_t length = torn + strlen(line) + 1;
    char *bytes = malloc(length + 1);
    ssize_t written;

    if (!bytes) {
        return apapi_fail(err, ENOMEM, "%s: out of memory", day_file->path);
    }
    snprintf(bytes, length + 1, "%s%s\n", torn ? "\n" : "", line);
    do {
        written = write(day_file->file, bytes, length);
    } while (written < 0 && errno == EINTR);
    free(bytes);
    if (written >= 0 && (size_t)written < length) {
        return apapi_fail(err, ENOSPC, "%s: only %zd of %zu bytes written", day_file->path, written,
                          length);
    }
    if (written >= 0) {
        written = close(day_file->file);
        day_file->file = -1;
    }
    return written < 0 ? file_fail(day_file->path, err) : 0;
}

/* --- accounting files ------------------------------------------------------------------------- */

static int store_append(struct day_file day_file, const char *line, struct apapi_error *err)
{
    int result;

    if (strchr(line, '\n')) {
        return apapi_fail(err, EINVAL, "store: a record of more than one line");
    }
    /* O_RDWR: the last byte of the file is read, too */
    if (day_file_open(&day_file, -1, O_RDWR | O_APPEND | O_CREAT, err)) {
        return -1;
    }
    result = day_file_append(&day_file, line, err);
    day_file_close(&day_file);
    return result;
}

int apapi_store_append(const char *dir, const char *node, int64_t unix_ns, const char *line,
                       struct apapi_error *err)
{
    return store_append((struct day_file){dir, node, ".jsonl", unix_ns, .file = -1}, line, err);
}

int apapi_store_append_hour(const char *dir, const char *node, int64_t unix_ns, const char *line,
                            struct apapi_error *err)
{
    return store_append((struct day_file){dir, node, ".hours", unix_ns, .file = -1}, line, err);
}

int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns, struct apapi_error *err)
{
    struct day_file day_file = {dir, node, ".jsonl", unix_ns, .file = -1};
    int result;

    if (day_file_open(&day_file, -1, O_RDWR, err)) {
        return -1;
    }
    result =
        file_sync(day_file.file) || file_sync(day_file.folder) ? file_fail(day_file.path, err) : 0;
    day_file_close(&day_file);
    return result;
}

/* --- users' copies ---------------------------------------------------------------------------- */

#define FREE_SHARE 20 /* copies of users leave one twentieth of the file system free */

/* Check the free space: a user who runs many short steps must not fill a disk that others need. */
static int user_store_check_free(int top, const char *dir, struct apapi_error *err)
{
    struct statvfs disk;

    if (fstatvfs(top, &disk)) {
        return file_fail(dir, err);
    }
    return disk.f_blocks == 0 || disk.f_bavail >= disk.f_blocks / FREE_SHARE
               ? 0
               : apapi_fail(err, ENOSPC, "%s: less than a twentieth of the file system is free",
                            dir);
}

/* Group bits are the mask of the access control list: if they are 0, the user has no entry yet. */
static int user_store_let(int fd, const char *path, const struct user_record *record,
                          uint16_t rights, struct apapi_error *err)
{
    struct stat status;

    if (fstat(fd, &status)) {
        return file_fail(path, err);
    }
    if (status.st_mode & S_IRWXG || access_let_user(fd, record->uid, rights) == 0) {
        return 0;
    }
    return apapi_fail(err, errno, "%s: user %u cannot be given the right to read it: %s", path,
                      record->uid, strerror(errno));
}

/* Open the user's folder. @param path  result: path of this folder */
static int user_store_open(const struct user_record *record, char path[PATH_MAX],
                           struct apapi_error *err)
{
    int top = folder_open(record->dir, err), folder = -1;

    if (top < 0) {
        return -1;
    }
    if (snprintf(path, PATH_MAX, "%s/%u", record->dir, record->uid) >= PATH_MAX) {
        apapi_fail(err, ENAMETOOLONG, "%s: the path is too long", record->dir);
    } else if (access_let_in(top, record->dir, 0711, err) == 0 &&
               user_store_check_free(top, record->dir, err) == 0) {
        folder = folder_open_below(top, path, err);
    }
    folder_close(top);
    if (folder >= 0 && user_store_let(folder, path, record, ACCESS_READ | ACCESS_ENTER, err)) {
        folder_close(folder);
        folder = -1;
    }
    return folder;
}

/* With a second hard link of the file, someone could have other data changed, or keep the file. */
static int user_store_check(const struct day_file *day_file, const char *line,
                            struct apapi_error *err)
{
    if (day_file->status.st_nlink != 1) {
        return apapi_fail(err, EMLINK, "%s: has a second name", day_file->path);
    }
    if (day_file->status.st_size + (off_t)strlen(line) >= USER_STORE_DAY_MAX) {
        return apapi_fail(err, EFBIG, "%s: has %d MiB already", day_file->path,
                          USER_STORE_DAY_MAX >> 20);
    }
    return 0;
}

int user_store_append(const struct user_record *record, struct apapi_error *err)
{
    char path[PATH_MAX];
    struct day_file day_file = {path, record->node, ".jsonl", record->unix_ns, .file = -1};
    int folder = user_store_open(record, path, err), result = -1;

    if (folder < 0 || day_file_open(&day_file, folder, O_RDWR | O_APPEND | O_CREAT, err)) {
        return -1;
    }
    if (user_store_let(day_file.folder, day_file.path, record, ACCESS_READ | ACCESS_ENTER, err) ==
            0 &&
        user_store_let(day_file.file, day_file.path, record, ACCESS_READ, err) == 0 &&
        user_store_check(&day_file, record->line, err) == 0) {
        result = day_file_append(&day_file, record->line, err);
    }
    day_file_close(&day_file);
    return result;
}
