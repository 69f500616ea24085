/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"

#include "check.h"
#include "components.h"
#include "config/values.h"
#include "log.h"

/* Reports what users would see at each step and cannot correct. */
static void daemon_check_default(const struct config *config)
{
    struct apapi_error err;

    if (*config->components && !components_known(config->components) &&
        spank_apapi_check_components(config->libexec_dir, config->components, &err)) {
        slurm_error("apapi: default = %s: %s", config->components, err.text);
    }
}

static void daemon_check_folder(const struct config *config, const char *key, const char *folder)
{
    struct apapi_error err;

    if (spank_apapi_check_folder(config->libexec_dir, folder, &err)) {
        slurm_error("apapi: no records can be written to %s: %s", key, err.text);
    }
}

int spank_apapi_daemon_init(spank_t spank, int count, char *const words[])
{
    struct config config;

    (void)spank;
    config_load(&config, count, words, &spank_apapi_log_errors);
    if (config_enabled_anywhere(&config)) {
        daemon_check_default(&config);
        daemon_check_folder(&config, "acct_dir", config.acct_dir);
        daemon_check_folder(&config, "spool_dir", config.spool_dir);
    }
    config_clear(&config);
    return ESPANK_SUCCESS;
}
