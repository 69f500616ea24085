/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_FOLDER_H
#define APAPI_BASE_FOLDER_H
#include <sys/stat.h>

#include "apapi/error.h"

/* Folders and files that only their owner may use, and that no one can redirect with a link. */

/**
 * Open the folder `path`. It is created (mode 0700) if its parent exists. A link on the way is
 * followed only if root or the calling user has made it where no one else can change it.
 * @return descriptor; -1 with errno of the call that failed, ENOENT: no parent; ELOOP: such a link.
 */
int folder_open(const char *path, struct apapi_error *err);

/** The same, but creates nothing. */
int folder_find(const char *path);

/**
 * Open the folder `path`, whose last part is looked up in `parent`. It is created (mode 0700) if
 * missing. It must belong to the calling user and must not be a link.
 * @return descriptor; -1 with errno of the call that failed, EPERM: it belongs to another user.
 */
int folder_open_below(int parent, const char *path, struct apapi_error *err);

/**
 * Open the file `path`, whose last part is looked up in `folder`. A new file gets mode 0600. It
 * must be a regular file of the calling user.
 * @param flags   O_CREAT, O_RDWR ... of open(2)
 * @param status  result
 * @return descriptor; -1 with errno of the call that failed, EPERM: not a regular file, or another
 * user's.
 */
int folder_open_file(int folder, const char *path, int flags, struct stat *status,
                     struct apapi_error *err);

/** Check that it can be the name of a file in a folder. 0; -1. */
int folder_check_name(const char *name);

/** close(2) that preserves errno and ignores negative values. */
void folder_close(int fd);

#endif
