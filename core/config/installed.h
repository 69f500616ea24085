/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_INSTALLED_H
#define CONFIG_INSTALLED_H

/** The folders of an installation, all of them called apapi. */
enum installed_folder {
    INSTALLED_NONE,
    INSTALLED_CONFIG,  /* etc */
    INSTALLED_ACCT,    /* var/log */
    INSTALLED_SPOOL,   /* var/spool */
    INSTALLED_LIBEXEC, /* libexec */
    INSTALLED_DATA,    /* share */
    INSTALLED_FOLDERS  /* how many there are */
};

/**
 * Where a folder of the installation is: where it was configured to be, or, if the tree was
 * installed with another prefix (cmake --install --prefix), below that. The place of this program
 * or plugin tells.
 * @return static storage; INSTALLED_NONE: NULL. Thread-safety: none at the first call.
 */
const char *installed_path(enum installed_folder folder);

#endif
