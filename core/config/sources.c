/* SPDX-License-Identifier: BSD-3-Clause */
#include "apapi/source.h"
#include "config/config.h"

void config_set_sources(const struct config *config)
{
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];

        apapi_source_set(setting->section, setting->key, setting->value);
    }
}

void config_use_sources(void)
{
    struct config config;

    config_read(&config, config_path(), NULL);
    config_set_sources(&config);
    config_clear(&config);
}
