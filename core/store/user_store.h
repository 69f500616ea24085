/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STORE_USER_STORE_H
#define STORE_USER_STORE_H
#include <stdint.h>

#include "apapi/error.h"

/*
 * Copies of records for the users whose steps they are of: <dir>/<uid>/<YYYY-MM-DD>/<node>.jsonl.
 * Root owns all of it. Nobody can list <dir>; below <dir>/<uid> the user can read, and nobody else
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
