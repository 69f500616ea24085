/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_INSTALLED_H
#define APAPI_CONFIG_INSTALLED_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

/** The folders of an installation. Each is called apapi. */
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
 * The path of a folder of the installation: the configured one, or below another prefix if the tree
 * was installed with one (cmake --install --prefix). The path of this program or plugin shows that.
 * @return static storage; INSTALLED_NONE: NULL. Thread-safety: none at the first call.
 */
const char *installed_path(enum installed_folder folder);

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

/**
 * Find files that every step waits for and that are on a network file system: apapi.conf, the
 * helper programs, the installed plugin.
 * @param conf    path of apapi.conf
 * @param next    0 before the first call
 * @param key     result: "apapi.conf", "libexec_dir" or "plugin"; set if true is returned
 * @param reason  result: names the path and the file system; set if true is returned
 * @return whether there is another one. Waits for that file system, as steps do.
 */
bool config_network_find(const char *conf, const char *libexec_dir, size_t *next, const char **key,
                         struct apapi_error *reason);

#endif
