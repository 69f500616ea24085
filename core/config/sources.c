/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "apapi/source.h"
#include "base/text.h"
#include "config/config.h"

#define NOBODY 65534 /* in a container, the owner of files of users whom it does not have */

void config_set_sources(const struct config *config)
{
    for (size_t i = 0; i < config->setting_count; i++) {
        apapi_source_set(config->settings[i].section, config->settings[i].key,
                         config->settings[i].value);
    }
}

void config_read_chosen(const char *program, struct config *config, const struct config_sink *sink)
{
    const char *path = config_path();
    bool site = path == config_site_path();
    char clean[CONFIG_LIST_SIZE];
    struct stat file, proc; /* /proc is root's */

    /* ordinary users may be kept from reading the site's; with /dev/null there is none to read */
    if (config_read(config, path, sink) && strcmp(path, "/dev/null") != 0 &&
        !(site && (errno == ENOENT || errno == EACCES ||
                   (stat(path, &file) == 0 && stat("/proc", &proc) == 0 && file.st_uid == NOBODY &&
                    proc.st_uid == NOBODY)))) {
        text_clean(clean, sizeof clean, path);
        fprintf(stderr, "%s: %s%s has no effect: %s\n", program, site ? "" : "APAPI_CONFIG=", clean,
                errno == EPERM ? "others can write it, or it is another user's" : strerror(errno));
    }
}

void config_use_sources(const char *program)
{
    struct config config;

    config_read_chosen(program, &config, NULL);
    config_set_sources(&config);
    config_clear(&config);
}
