/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_STORE_H
#define APAPI_RECORD_STORE_H
#include <stdint.h>

#include "apapi/error.h"

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

/** As apapi_store_append(), to the node's own record, <dir>/<YYYY-MM-DD>/<node>.hours. */
int apapi_store_append_hour(const char *dir, const char *node, int64_t unix_ns, const char *line,
                            struct apapi_error *err);

/**
 * Wait until the accounting file of a node and day is on the disk, and survives a power cut.
 * @return 0; -1 with errno and `err` as apapi_store_append().
 */
int apapi_store_sync(const char *dir, const char *node, int64_t unix_ns, struct apapi_error *err);

/* --- users' copies ---------------------------------------------------------------------------- */

/*
 * Copies of records for the users who ran the steps: <dir>/<uid>/<YYYY-MM-DD>/<node>.jsonl. Root
 * owns all files and folders. <dir> cannot be listed. Below <dir>/<uid> the user can read; nobody
 * else but root has access.
 */

#define USER_STORE_DAY_MAX (16 << 20) /* bytes of the file of a user, node and day */

/** A record for its user. The texts are borrowed. */
struct user_record {
    const char *dir;
    uint32_t uid;
    const char *node;
    int64_t unix_ns;  /* decides the day, in UTC [ns since 1970] */
    const char *line; /* one line without its newline */
};

/**
 * Append the record with one write. Creates folders and file if they are missing.
 * @return 0; -1 with errno of the call that failed, `err` names the path:
 *         ELOOP, EPERM  a symbolic link in the path; a folder or file that others own or can change
 *         EMLINK        the file has a second hard link
 *         EFBIG         USER_STORE_DAY_MAX is reached
 *         ENOSPC        less than a twentieth of the file system is free
 *         EOPNOTSUPP    the file system has no access control lists
 */
int user_store_append(const struct user_record *record, struct apapi_error *err);

#endif
