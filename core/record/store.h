/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_STORE_H
#define APAPI_RECORD_STORE_H
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#include "apapi/error.h"

/* --- a file of a day -------------------------------------------------------------------------- */

/** A day's file of a node, and its folder. */
struct day_file {
    int folder, file;
    char path[PATH_MAX];
    struct stat status; /* of the file, when it was opened or last looked at */
};

/** Make the path <dir>/<YYYY-MM-DD>/<node>.jsonl. 0; -1 with errno ENAMETOOLONG, EINVAL. */
int day_file_name(struct day_file *day_file, const char *dir, const char *node, int64_t unix_ns,
                  struct apapi_error *err);

/** The same of the node's own record, <node>.hours. */
int day_file_name_hours(struct day_file *day_file, const char *dir, const char *node,
                        int64_t unix_ns, struct apapi_error *err);

/**
 * Open folder and file of that path in the open folder `root`. On success, call day_file_leave().
 * @param flags  O_CREAT, O_RDWR ... of open(2)
 * @return 0; -1 with errno of folder_open_below(), folder_open_file()
 */
int day_file_enter(struct day_file *day_file, int root, int flags, struct apapi_error *err);

/**
 * Append a line without a newline, with one write; a torn last line is ended before.
 * @return 0; -1 with errno ENOSPC, ENOMEM, of write(2) or close(2)
 */
int day_file_append(struct day_file *day_file, const char *line, struct apapi_error *err);

/** Close both. */
void day_file_leave(struct day_file *day_file);

/* --- accounting files ------------------------------------------------------------------------- */

/**
 * Append a line to the node's accounting file <dir>/<YYYY-MM-DD>/<node>.jsonl (day in UTC) with
 * one write. Creates the folders (mode 0700) and the file (0600); follows no symbolic link
 * below `dir`.
 * @param unix_ns  decides the day [ns since 1970, UTC]
 * @return 0; -1 with errno of the call that failed (ELOOP: a link; EINVAL: a node name with '/'
 *         or ".."); `err` names the file.
 */
int apapi_store_append(const char *dir, const char *node, int64_t unix_ns, const char *line,
                       struct apapi_error *err);

/** The same to the node's own record, <dir>/<YYYY-MM-DD>/<node>.hours. */
int apapi_store_append_hour(const char *dir, const char *node, int64_t unix_ns, const char *line,
                            struct apapi_error *err);

/**
 * Wait until what was appended to that file is on the disk, and survives a power cut.
 * @return 0; -1 as apapi_store_append().
 */
int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns, struct apapi_error *err);

/* --- users' copies ---------------------------------------------------------------------------- */

/*
 * Copies of records for the users whose steps they are of: <dir>/<uid>/<YYYY-MM-DD>/<node>.jsonl.
 * Root owns all of it. <dir> cannot be listed; below <dir>/<uid> the user can read, and nobody else
 * but root can do anything.
 */

#define USER_STORE_DAY_MAX (16 << 20) /* bytes of a file: of one user, node and day */

/** A record for its user. The texts are borrowed. */
struct user_record {
    const char *dir;
    uint32_t uid;
    const char *node;
    int64_t unix_ns;  /* decides the day, in UTC [ns since 1970] */
    const char *line; /* one line without its newline */
};

/**
 * Append the record with one write. Creates what is missing of folders and file.
 * @return 0; -1 with errno of the call that failed, `err` names the path:
 *         ELOOP, EPERM  a link on the way; folders or files of others, or that others can change
 *         EMLINK        the file has a second name somewhere
 *         EFBIG         USER_STORE_DAY_MAX is reached
 *         ENOSPC        less than a twentieth of the file system is free
 *         EOPNOTSUPP    the file system has no access control lists
 */
int user_store_append(const struct user_record *record, struct apapi_error *err);

#endif
