/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/network.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/array.h"
#include "config/config.h"
#include "config/installed.h"

/* Types of statfs(); <linux/magic.h> knows some of them only. */
static const struct {
    uint32_t magic;
    const char *name;
} kinds[] = {
    {0x6969, "NFS"},       {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"},
    {0x00C36400, "Ceph"},  {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},  {0x517B, "SMB"},
    {0x01021997, "9P"},    {0x5346414F, "AFS"},    {0x6B414653, "AFS"},  {0x73757245, "Coda"},
    {0xAAD7AAEA, "PanFS"}, {0x7461636F, "OCFS2"},  {0x01161970, "GFS2"}, {0x20030528, "OrangeFS"}};

/* @return its name; NULL: it is no network file system, or the path does not exist. */
static const char *network_kind(const char *path)
{
    struct statfs status;

    if (statfs(path, &status)) {
        return NULL;
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if ((uint32_t)status.f_type == kinds[i].magic) {
            return kinds[i].name;
        }
    }
    return NULL;
}

/* The plugin of the installation that this program is of. @return `path`; "": not known. */
static const char *config_plugin(char path[PATH_MAX])
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

bool config_network_find(const struct config *config, size_t *next, const char **key,
                         struct apapi_error *reason)
{
    char plugin[PATH_MAX];
    const struct {
        const char *key, *path;
    } files[] = {{"apapi.conf", config_path()},
                 {"libexec_dir", config->libexec_dir},
                 {"plugin", config_plugin(plugin)}};

    for (; *next < COUNT_OF(files); ++*next) {
        const char *path = files[*next].path, *kind = network_kind(path);

        if (kind) {
            *key = files[(*next)++].key;
            apapi_fail(reason, EREMOTE,
                       "%.100s: on %s: every step waits while its server does not respond", path,
                       kind);
            return true;
        }
    }
    return false;
}
