/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_FOLDERS_H
#define CONFIG_FOLDERS_H
#include "apapi/error.h"

/*
 * acct_dir and spool_dir. apapi-sampler makes the last folder of the path, and those above it too
 * where the path is the standard one: above a site's own path they may be on a disk that is not
 * mounted.
 */

/**
 * Can root write records there, as far as this user can see?
 * @return 0; -1 with errno ENOENT, ENOTDIR, ENOSPC or those of access(2), `err` names the path.
 */
int config_folder_check(const char *path, struct apapi_error *err);

/** Make what is above the folder, if the path is the standard one. Failures show when it is used.
 */
void config_folder_make_above(const char *path);

#endif
