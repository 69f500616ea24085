/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/user_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/files.h"
#include "store/day_file.h"

#define FREE_SHARE 20 /* users leave one of so many parts of the file system free */

/* A user who runs many short steps does not fill a disk that others need. */
static int user_store_check_free(int top, const char *dir, struct apapi_error *err)
{
    struct statvfs disk;

    if (fstatvfs(top, &disk)) {
        return apapi_fail(err, errno, "%s: %s", dir, strerror(errno));
    }
    return disk.f_blocks == 0 || disk.f_bavail >= disk.f_blocks / FREE_SHARE
               ? 0
               : apapi_fail(err, ENOSPC, "%s: less than a twentieth of the file system is free",
                            dir);
}

/* The bits of the group are those of the list's mask: without them, the user was not let in yet. */
static int user_store_let(int fd, const char *path, const struct user_record *record,
                          uint16_t rights, struct apapi_error *err)
{
    struct stat status;

    if (fstat(fd, &status)) {
        return apapi_fail(err, errno, "%s: %s", path, strerror(errno));
    }
    if (status.st_mode & S_IRWXG || access_let_user(fd, record->uid, rights) == 0) {
        return 0;
    }
    return apapi_fail(err, errno, "%s: user %u cannot be given the right to read it: %s", path,
                      record->uid, strerror(errno));
}

/* @param path  result: of the user's folder */
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

/* Someone could use a second name of it to have other data changed, or to keep it. */
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

static int user_store_write(struct day_file *day_file, const struct user_record *record,
                            struct apapi_error *err)
{
    if (user_store_let(day_file->folder, day_file->path, record, ACCESS_READ | ACCESS_ENTER, err) ||
        user_store_let(day_file->file, day_file->path, record, ACCESS_READ, err) ||
        user_store_check(day_file, record->line, err)) {
        return -1;
    }
    return day_file_append(day_file, record->line, err);
}

int user_store_append(const struct user_record *record, struct apapi_error *err)
{
    struct day_file day_file = {.folder = -1, .file = -1};
    char path[PATH_MAX];
    int folder = user_store_open(record, path, err), result = -1;

    if (folder < 0) {
        return -1;
    }
    if (day_file_name(&day_file, path, record->node, record->unix_ns, err) == 0 &&
        day_file_enter(&day_file, folder, O_RDWR | O_APPEND | O_CREAT, err) == 0) {
        result = user_store_write(&day_file, record, err);
        day_file_leave(&day_file);
    }
    folder_close(folder);
    return result;
}
