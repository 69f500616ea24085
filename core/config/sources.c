/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apapi/source.h"
#include "base/text.h"
#include "config/config.h"

void config_set_sources(const struct config *config)
{
    for (size_t i = 0; i < config->setting_count; i++) {
        const struct config_setting *setting = &config->settings[i];

        apapi_source_set(setting->section, setting->key, setting->value);
    }
}

void config_read_chosen(const char *program, struct config *config, const struct config_sink *sink)
{
    const char *path = config_path();
    bool site = path == config_site_path();
    char clean[CONFIG_LIST_SIZE];

    /* ordinary users may be kept from reading the site's; with /dev/null there is none to read */
    if (config_read(config, path, sink) && !(site && (errno == ENOENT || errno == EACCES)) &&
        strcmp(path, "/dev/null") != 0) {
        const char *why =
            errno == EPERM ? "others can write it, or it is another user's" : strerror(errno);

        text_clean(clean, sizeof clean, path);
        fprintf(stderr, "%s: %s%s has no effect: %s\n", program, site ? "" : "APAPI_CONFIG=", clean,
                why);
    }
}

void config_use_sources(const char *program)
{
    struct config config;

    config_read_chosen(program, &config, NULL);
    config_set_sources(&config);
    config_clear(&config);
}
