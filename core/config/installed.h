/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_INSTALLED_H
#define CONFIG_INSTALLED_H

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

#endif
