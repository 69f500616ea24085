/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <fcntl.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"
#include "node_option.h"

#define CONFIG_ENVIRONMENT "APAPI_CONFIG"

/* Slurm's, from the process that loads this plugin: the NodeName of a NodeHostname. */
extern char *slurm_conf_get_nodename(const char *host) __attribute__((weak));

enum role settings_role(void)
{
    char path[512];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    const char *name;

    path[length > 0 ? length : 0] = '\0';
    name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (strncmp(name, "slurmstepd", strlen("slurmstepd")) == 0) {
        return ROLE_STEP;
    }
    return strncmp(name, "slurmd", strlen("slurmd")) == 0 &&
                   strncmp(name, "slurmdbd", strlen("slurmdbd")) != 0
               ? ROLE_SLURMD
               : ROLE_OTHER;
}

static bool settings_take_command_line(char *node, size_t size)
{
    char words[4096];
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, words, sizeof words - 1) : -1;

    if (file >= 0) {
        close(file);
    }
    if (length <= 0) {
        return false;
    }
    words[length] = '\0';
    return node_option_find(words, (size_t)length, node, size);
}

/* As slurmd finds it. */
static void settings_find_node(char *node, size_t size)
{
    char host[256] = "";
    const char *name = getenv("SLURMD_NODENAME");

    if (name && *name) {
        snprintf(node, size, "%s", name);
        return;
    }
    if (settings_take_command_line(node, size)) {
        return;
    }
    gethostname(host, sizeof host - 1);
    host[strcspn(host, ".")] = '\0';
    name = slurm_conf_get_nodename ? slurm_conf_get_nodename(host) : NULL;
    snprintf(node, size, "%s", name ? name : host);
}

static void settings_complain(const char *text, void *context)
{
    (void)context;
    slurm_error("acct_gather_energy/apapi: %s", text);
}

void settings_read(struct settings *settings, enum role role)
{
    const struct config_sink sink = {role == ROLE_SLURMD ? settings_complain : NULL, NULL};
    static struct config config;
    const char *named = secure_getenv(CONFIG_ENVIRONMENT);
    const char *path = named && *named ? named : config_site_path();

    config_defaults(&config);
    config_read(&config, path, &sink);
    snprintf(settings->live_dir, sizeof settings->live_dir, "%s", config.live_dir);
    snprintf(settings->keeper.libexec_dir, sizeof settings->keeper.libexec_dir, "%s",
             config.libexec_dir);
    snprintf(settings->keeper.config, sizeof settings->keeper.config, "%s", path);
    settings_find_node(settings->keeper.node, sizeof settings->keeper.node);
    config_clear(&config);
}
