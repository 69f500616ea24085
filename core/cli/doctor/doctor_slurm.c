/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor --slurm: what Slurm's energy plugin lacks on this host. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count_of.h"
#include "cli/doctor/doctor.h"
#include "cli/grid.h"
#include "config/network.h"
#include "config/slurm_conf.h"

#define TYPE "acct_gather_energy/apapi"
#define PLUGIN "acct_gather_energy_apapi.so"
#define LEAD_COLUMNS 24

/* What slurm.conf says; "": nothing. */
struct slurm {
    char type[256], folders[PATH_MAX], controllers[1024];
    size_t width;
    bool lacking;
};

static void slurm_put(struct slurm *slurm, bool lacking, const char *lead, const char *text)
{
    printf("%-*s", LEAD_COLUMNS, lead);
    terminal_put(stdout, text, LEAD_COLUMNS, slurm->width);
    slurm->lacking = slurm->lacking || lacking;
}

static void slurm_set(char *text, size_t size, const char *value)
{
    snprintf(text, size, "%.*s", slurm_conf_length(value), value);
}

/* Each SlurmctldHost is one more controller, by name and perhaps "(address)". */
static void slurm_add_controller(struct slurm *slurm, const char *value)
{
    size_t length = strlen(slurm->controllers);

    snprintf(slurm->controllers + length, sizeof slurm->controllers - length, "%s%.*s",
             length ? ", " : "", (int)strcspn(value, "( \t\r\n"), value);
}

static void slurm_take(char *line, void *context)
{
    struct slurm *slurm = context;
    const char *value;

    if ((value = slurm_conf_find(line, "AcctGatherEnergyType"))) {
        slurm_set(slurm->type, sizeof slurm->type, value);
    }
    if ((value = slurm_conf_find(line, "PluginDir"))) {
        slurm_set(slurm->folders, sizeof slurm->folders, value);
    }
    if ((value = slurm_conf_find(line, "SlurmctldHost"))) {
        slurm_add_controller(slurm, value);
    }
}

/* With slurm.conf of its own, or that of a slurmd that gets it from slurmctld. */
static const char *slurm_conf_path(void)
{
    static const char *const usual[] = {"/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};
    const char *named = secure_getenv("SLURM_CONF");

    if (named && *named) {
        return access(named, R_OK) == 0 ? named : NULL;
    }
    for (size_t i = 0; i < COUNT_OF(usual); i++) {
        if (access(usual[i], R_OK) == 0) {
            return usual[i];
        }
    }
    return NULL;
}

static bool slurm_lists(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (; *list; list += strcspn(list, ","), list += *list == ',') {
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Without PluginDir, Slurm looks where its own plugins are. */
static bool slurm_is_own_folder(const char *folder)
{
    char pattern[PATH_MAX + 16];
    glob_t found;
    bool own;

    snprintf(pattern, sizeof pattern, "%s/select_*.so", folder);
    own = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return own;
}

/* @return whether one of the folders, "a:b", has the plugin: `path` */
static bool slurm_find_plugin(const char *folders, char *path, size_t size)
{
    for (; *folders; folders += strcspn(folders, ":"), folders += *folders == ':') {
        snprintf(path, size, "%.*s/" PLUGIN, (int)strcspn(folders, ":"), folders);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static void slurm_look_at_plugin(struct slurm *slurm)
{
    char path[PATH_MAX + sizeof PLUGIN], ours[PATH_MAX], text[3 * PATH_MAX];
    bool here;

    config_plugin_folder(ours);
    if (!*slurm->folders && slurm_is_own_folder(ours)) {
        snprintf(slurm->folders, sizeof slurm->folders, "%s", ours);
    }
    slurm_put(slurm, false, "PluginDir",
              *slurm->folders ? slurm->folders : "not set: Slurm's own folder alone");
    if (slurm_find_plugin(slurm->folders, path, sizeof path)) {
        slurm_put(slurm, false, "plugin", path);
        return;
    }
    here = slurm_find_plugin(ours, path, sizeof path);
    snprintf(text, sizeof text,
             "missing: no folder of PluginDir has " PLUGIN
             "; slurmctld and slurmd do not start without it%s%s",
             here ? ". In slurm.conf: PluginDir=FOLDER OF SLURM'S PLUGINS:"
                  : ". Install the package slurm-acct-energy-apapi, or build APAPI here",
             here ? ours : "");
    slurm_put(slurm, true, "plugin", text);
}

bool doctor_slurm(size_t width)
{
    struct slurm slurm = {.width = width};
    const char *path = slurm_conf_path();
    char text[sizeof slurm.controllers + 160];

    if (!path) {
        slurm_put(&slurm, true, "slurm.conf", "missing, or not readable; SLURM_CONF names it");
        return false;
    }
    slurm_conf_each(path, slurm_take, &slurm);
    slurm_put(&slurm, false, "slurm.conf", path);
    if (slurm_lists(slurm.type, TYPE)) {
        slurm_put(&slurm, false, "AcctGatherEnergyType", slurm.type);
    } else {
        snprintf(text, sizeof text, "%s: without " TYPE, *slurm.type ? slurm.type : "not set");
        slurm_put(&slurm, true, "AcctGatherEnergyType", text);
    }
    slurm_look_at_plugin(&slurm);
    snprintf(text, sizeof text, "on the hosts of slurmctld (%s) and on every node; ask there, too",
             *slurm.controllers ? slurm.controllers : "SlurmctldHost");
    slurm_put(&slurm, false, "needed", text);
    return !slurm.lacking;
}
