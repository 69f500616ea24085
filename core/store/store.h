/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STORE_STORE_H
#define STORE_STORE_H
#include <stdint.h>

#include "apapi/error.h"

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

#endif
