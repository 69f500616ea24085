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

/** Find the installed plugin. @param path  PATH_MAX bytes. @return `path`; "": not known. */
const char *installed_plugin(char *path);

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

#endif
