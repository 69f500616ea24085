/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_INSTALLED_H
#define APAPI_CONFIG_INSTALLED_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

/** The folders of an installation. The name of each folder is apapi, in the folder named below. */
enum installed_folder {
    INSTALLED_NONE,
    INSTALLED_CONFIG,  /* etc */
    INSTALLED_ACCT,    /* var/log */
    INSTALLED_SPOOL,   /* var/spool */
    INSTALLED_LIBEXEC, /* libexec */
    INSTALLED_DATA,    /* share */
    INSTALLED_FOLDERS  /* number of folders */
};

/**
 * @return the path of a folder of the installation: the configured one; or below the prefix with
 *         which the tree was installed (cmake --install --prefix), as the path of this program or
 *         plugin shows it. Static storage; INSTALLED_NONE: NULL. First call: one thread only.
 */
const char *installed_path(enum installed_folder folder);

/*
 * acct_dir and spool_dir. apapi-sampler creates the last folder of a path. It creates the folders
 * above it only if the path is the default: the disk of another path may not be mounted.
 */

/**
 * Check that root can write records in a folder, as far as this user can see.
 * @return 0; -1 with errno ENOENT, ENOTDIR, ENOSPC or those of access(2), `err` names the path.
 */
int config_folder_check(const char *path, struct apapi_error *err);

/** Create the folders above a default path. Errors show up when the folder is used first. */
void config_folder_make_above(const char *path);

/**
 * Find the next file on a network file system for which every step waits: apapi.conf, the helper
 * programs, the installed plugin.
 * @param conf    path of apapi.conf
 * @param next    0 before the first call; the function's position
 * @param key     result: "apapi.conf", "libexec_dir" or "plugin"; set if true is returned
 * @param reason  result: names the path and the file system; set if true is returned
 * @return whether there is such a file. Waits for its file system, as steps do.
 */
bool config_network_find(const char *conf, const char *libexec_dir, size_t *next, const char **key,
                         struct apapi_error *reason);

#endif
