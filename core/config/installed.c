/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/installed.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"

/* --- folders of the installation ------------------------------------------------------------ */

/* The folders of programs and of the plugin, relative to the prefix. */
static const char *const program_folders[] = {APAPI_BELOW_BIN, APAPI_BELOW_LIBEXEC,
                                              APAPI_BELOW_PLUGIN};

static struct folder {
    const char *configured, *below;
    char *moved; /* path below another prefix; NULL: the folder is at the configured path */
} folders[INSTALLED_FOLDERS] = {
    [INSTALLED_CONFIG] = {APAPI_CONFIG_DIR, APAPI_BELOW_CONFIG, NULL},
    [INSTALLED_ACCT] = {APAPI_ACCT_DIR, APAPI_BELOW_ACCT, NULL},
    [INSTALLED_SPOOL] = {APAPI_SPOOL_DIR, APAPI_BELOW_SPOOL, NULL},
    [INSTALLED_LIBEXEC] = {APAPI_LIBEXEC_DIR, APAPI_BELOW_LIBEXEC, NULL},
    [INSTALLED_DATA] = {APAPI_DATA_DIR, APAPI_BELOW_DATA, NULL},
};

/* Find the file that contains this code: the plugin or the program. @return whether found */
static bool own_file(char path[PATH_MAX])
{
    const char *suffix;
    Dl_info info;

    if (dladdr(folders, &info) && info.dli_fname) {
        suffix = strrchr(info.dli_fname, '.');
        if (suffix && strcmp(suffix, ".so") == 0) {
            return realpath(info.dli_fname, path);
        }
    }
    return realpath("/proc/self/exe", path);
}

/* Cut off "/" and `below` at the end of a folder. @return false: it does not end so */
static bool installed_cut(char *folder, const char *below)
{
    size_t length = strlen(folder), tail = strlen(below);

    if (length <= tail || folder[length - tail - 1] != '/' ||
        strcmp(folder + length - tail, below) != 0) {
        return false;
    }
    folder[length - tail - 1] = '\0';
    return true;
}

static bool is_configured(const char *prefix)
{
    struct stat here, there;

    return stat(prefix, &here) || (stat(APAPI_PREFIX, &there) == 0 && here.st_dev == there.st_dev &&
                                   here.st_ino == there.st_ino);
}

/* @return whether an installation is there. A plugin copied into Slurm's folder has none around. */
static bool has_tree(const char *prefix)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/" APAPI_BELOW_LIBEXEC "/apapi-sampler", prefix) <
               (int)sizeof path &&
           access(path, X_OK) == 0;
}

/* @return whether the installation is elsewhere than configured. */
static bool find_prefix(char prefix[PATH_MAX])
{
    char *slash;

    if (!own_file(prefix) || !(slash = strrchr(prefix, '/'))) {
        return false;
    }
    *slash = '\0';
    for (size_t i = 0; i < COUNT_OF(program_folders); i++) {
        if (installed_cut(prefix, program_folders[i])) {
            return !is_configured(prefix) && has_tree(prefix);
        }
    }
    return false;
}

/* Move a folder to another prefix. With /usr, etc/ and var/ are below the root folder. */
static void move(struct folder *folder, const char *prefix)
{
    bool root = strcmp(prefix, "/usr") == 0 &&
                (strncmp(folder->below, "etc/", 4) == 0 || strncmp(folder->below, "var/", 4) == 0);

    if (*folder->below != '/' &&
        asprintf(&folder->moved, "%s/%s", root ? "" : prefix, folder->below) < 0) {
        folder->moved = NULL;
    }
}

const char *installed_path(enum installed_folder folder)
{
    static bool looked;
    char prefix[PATH_MAX];

    if (!looked && find_prefix(prefix)) {
        for (size_t i = INSTALLED_NONE + 1; i < INSTALLED_FOLDERS; i++) {
            move(&folders[i], prefix);
        }
    }
    looked = true;
    return folders[folder].moved ? folders[folder].moved : folders[folder].configured;
}

const char *installed_plugin(char *path)
{
    const char *libexec = installed_path(INSTALLED_LIBEXEC), *folder = APAPI_BELOW_PLUGIN;
    size_t prefix = strlen(libexec), below = strlen(APAPI_BELOW_LIBEXEC);

    *path = '\0';
    if (*folder == '/') {
        snprintf(path, PATH_MAX, "%s/spank_apapi.so", folder);
    } else if (prefix > below && strcmp(libexec + prefix - below, APAPI_BELOW_LIBEXEC) == 0) {
        snprintf(path, PATH_MAX, "%.*s%s/spank_apapi.so", (int)(prefix - below), libexec, folder);
    }
    return path;
}

/* --- folders of records --------------------------------------------------------------------- */

static bool is_standard(const char *path)
{
    return strcmp(path, installed_path(INSTALLED_ACCT)) == 0 ||
           strcmp(path, installed_path(INSTALLED_SPOOL)) == 0;
}

/* Check that root can write in an existing folder. Other users cannot check its permissions. */
static int check_existing(const char *path, const struct stat *existing, const char *wanted,
                          struct apapi_error *err)
{
    struct statfs disk;

    if (!S_ISDIR(existing->st_mode)) {
        return apapi_fail(err, ENOTDIR, "%.150s: not a folder", path);
    }
    if (geteuid() == 0) {
        int folder = folder_open(path, err); /* as for records: links of ordinary users are none */

        if (folder < 0) {
            return -1;
        }
        close(folder);
        if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS)) {
            return apapi_fail(err, errno, "%.150s: %s", wanted, strerror(errno));
        }
    }
    if (statfs(path, &disk)) {
        return 0;
    }
    if (disk.f_type == PROC_SUPER_MAGIC || disk.f_type == SYSFS_MAGIC) { /* root "may write" */
        return apapi_fail(err, ENOTSUP, "%.150s: the kernel keeps no files there", wanted);
    }
    if ((disk.f_blocks > 0 && disk.f_bfree == 0) || (disk.f_files > 0 && disk.f_ffree == 0)) {
        return apapi_fail(err, ENOSPC, "%.150s: %s", wanted, strerror(ENOSPC));
    }
    return 0;
}

int config_folder_check(const char *path, struct apapi_error *err)
{
    char existing[PATH_MAX], *slash;
    struct stat status;
    size_t up = 0;

    snprintf(existing, sizeof existing, "%s", path);
    while (stat(existing, &status)) {
        if (errno == EACCES && geteuid() != 0) {
            return 0;
        }
        slash = strrchr(existing, '/');
        if (errno != ENOENT || !slash || strcmp(existing, "/") == 0) {
            return apapi_fail(err, errno, "%.150s: %s", path, strerror(errno));
        }
        up += slash[1] != '\0';
        slash[slash == existing] = '\0';
        if (up > 1 && !is_standard(path)) {
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
