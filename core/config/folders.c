/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "config/installed.h"

static bool is_standard(const char *path)
{
    return strcmp(path, installed_path(INSTALLED_ACCT)) == 0 ||
           strcmp(path, installed_path(INSTALLED_SPOOL)) == 0;
}

/* Cut off the last part. @return false: no parent. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || strcmp(path, "/") == 0) {
        return false;
    }
    slash[slash == path] = '\0';
    return true;
}

/* Root can write to an existing folder. Other users cannot check that. */
static int check_existing(const char *path, const struct stat *existing, const char *wanted,
                          struct apapi_error *err)
{
    struct statvfs disk;

    if (!S_ISDIR(existing->st_mode)) {
        return apapi_fail(err, ENOTDIR, "%.150s: not a folder", path);
    }
    if (geteuid() == 0 && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS)) {
        return apapi_fail(err, errno, "%.150s: %s", wanted, strerror(errno));
    }
    if (statvfs(path, &disk) == 0 && disk.f_blocks > 0 && disk.f_bfree == 0) {
        return apapi_fail(err, ENOSPC, "%.150s: %s", wanted, strerror(ENOSPC));
    }
    return 0;
}

int config_folder_check(const char *path, struct apapi_error *err)
{
    char existing[PATH_MAX];
    struct stat status;
    size_t up = 0;

    snprintf(existing, sizeof existing, "%s", path);
    while (stat(existing, &status)) {
        if (errno == EACCES && geteuid() != 0) {
            return 0;
        }
        if (errno != ENOENT || !go_up(existing)) {
            return apapi_fail(err, errno, "%.150s: %s", path, strerror(errno));
        }
        if (++up > 1 && !is_standard(path)) {
            return apapi_fail(err, ENOENT, "%.150s: the folder above it does not exist", path);
        }
    }
    return check_existing(existing, &status, path, err);
}

void config_folder_make_above(const char *path)
{
    char above[PATH_MAX];

    if (!is_standard(path) || access(path, F_OK) == 0) {
        return;
    }
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
        if (mkdir(above, 0755) == 0) {
            chmod(above, 0755); /* independent of the umask */
        }
    }
}
