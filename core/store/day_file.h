/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef STORE_DAY_FILE_H
#define STORE_DAY_FILE_H
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#include "apapi/error.h"

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

#endif
