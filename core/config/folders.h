/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_FOLDERS_H
#define CONFIG_FOLDERS_H
#include "apapi/error.h"

/*
 * acct_dir and spool_dir. apapi-sampler creates the last folder of the path. It creates the ones
 * above only for the default path: the disk of a site's own path may not be mounted.
 */

/**
 * Check whether root can write records there, as far as this user can see.
 * @return 0; -1 with errno ENOENT, ENOTDIR, ENOSPC or those of access(2), `err` names the path.
 */
int config_folder_check(const char *path, struct apapi_error *err);

/** Create the folders above, if the path is the default one. Errors show up at the first use. */
void config_folder_make_above(const char *path);

#endif
