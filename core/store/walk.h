/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_STORE_WALK_H
#define APAPI_STORE_WALK_H
#include "apapi/scan.h"
#include "store/scan_filter.h"

/*
 * The files of an accounting folder, <dir>/<YYYY-MM-DD>/<node><suffix>, in the order of days and
 * nodes. Symbolic links below `dir` are not followed.
 */

/** Who is called. Paths and files are valid only during the call. */
struct walk {
    const char *suffix;          /* ".jsonl"; a compressed file has another suffix after it */
    const struct filter *filter; /* days and nodes that it excludes are not opened */
    /* A regular file, open at its start. @return 0; -1 with errno: the walk ends. */
    int (*file)(const struct apapi_scan_file *file, const char *path, int fd, void *context);
    void (*leave_out)(const char *path, const char *reason, void *context); /* cannot be read */
    void *context;
};

/**
 * @return 0; -1 with errno of opening `dir`, which `err` names, or that of `file`, with an empty
 * `err`
 */
int walk_folder(const struct walk *walk, const char *dir, struct apapi_error *err);

#endif
