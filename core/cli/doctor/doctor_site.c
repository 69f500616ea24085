/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi doctor: checks whether records can be written. */
#include <stdio.h>
#include <string.h>

#include "apapi/session.h"
#include "cli/doctor/doctor.h"
#include "config/config.h"
#include "config/folders.h"
#include "config/network.h"

static void add_trouble(struct site *site, const char *key, const struct apapi_error *reason)
{
    site->troubles[site->trouble_count++] = (struct site_trouble){key, *reason};
}

static void doctor_site_look_at_folder(struct site *site, const char *key, const char *path)
{
    struct apapi_error reason;

    if (config_folder_check(path, &reason)) {
        add_trouble(site, key, &reason);
    }
}

static void doctor_site_look_at_disks(struct site *site, const struct config *config)
{
    struct apapi_error reason;
    const char *key;

    for (size_t i = 0; config_network_find(config, &i, &key, &reason);) {
        add_trouble(site, key, &reason);
    }
}

void site_look(struct site *site)
{
    struct config config;
    struct apapi_error reason;

    config_defaults(&config);
    config_read(&config, config_path(), NULL);
    snprintf(site->acct_dir, sizeof site->acct_dir, "%s", config.acct_dir);
    snprintf(site->spool_dir, sizeof site->spool_dir, "%s", config.spool_dir);
    doctor_site_look_at_folder(site, "acct_dir", config.acct_dir);
    doctor_site_look_at_folder(site, "spool_dir", config.spool_dir);
    if (*config.components && apapi_components_check(config.components, &reason)) {
        add_trouble(site, "default", &reason);
    }
    doctor_site_look_at_disks(site, &config);
    config_clear(&config);
}

const char *site_trouble_of(const struct site *site, const char *key)
{
    for (size_t i = 0; i < site->trouble_count; i++) {
        if (strcmp(site->troubles[i].key, key) == 0) {
            return site->troubles[i].reason.text;
        }
    }
    return NULL;
}
