/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_FOLDER_H
#define APAPI_BASE_FOLDER_H
#include <sys/stat.h>

#include "apapi/error.h"

/* Folders and files that only their owner may touch, and that nobody else can redirect by a link.
 */

/**
 * Open the folder `path`; made (mode 0700) if the folder above it exists. On the way there only
 * links are followed that root or the user who asks has put where nobody else can.
 * @return descriptor; -1 with errno of the call that failed, ENOENT: nor does the one above; ELOOP:
 *         such a link.
 */
int folder_open(const char *path, struct apapi_error *err);

/** The same, but a folder that is not there is not made. */
int folder_find(const char *path);

/**
 * Open the folder `path`, of which the last part is looked up in `parent`; made (mode 0700) if it
 * is not there. It must belong to the user who asks and be no link.
 * @return descriptor; -1 with errno of the call that failed, EPERM: another user's.
 */
int folder_open_below(int parent, const char *path, struct apapi_error *err);

/**
 * Open the file `path`, of which the last part is looked up in `folder`; a new one has mode 0600.
 * It must be a regular file of the user who asks.
 * @param flags   O_CREAT, O_RDWR ... of open(2)
 * @param status  result
 * @return descriptor; -1 with errno of the call that failed, EPERM: no regular file, another
 * user's.
 */
int folder_open_file(int folder, const char *path, int flags, struct stat *status,
                     struct apapi_error *err);

/** Can it be the name of one file in a folder? */
int folder_check_name(const char *name);

/** close(2), with errno preserved; nothing where it is below 0. */
void folder_close(int fd);

#endif
