/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H
#include "config/settings.h"

/*
 * What a site says: apapi.conf, and the words behind the plugin in plugstack.conf, which win. The
 * plugin compiles these files in, so they need libc only. apapi.conf(5) is for people.
 */

/** Receives one line about one problem, without a newline. */
typedef void (*config_complain_f)(const char *text, void *context);
struct config_sink {
    config_complain_f complain; /* NULL: nobody is to hear of it */
    void *context;
};

/** Set everything to its default. Thread-safety: none at the first call. */
void config_defaults(struct config *config);

/**
 * Read apapi.conf. What is wrong in it is complained about and has no effect. It must be a regular
 * file, root's, which nobody else can write, or the reader's own.
 * @param path  lives as long as `config`
 * @return 0; -1 with errno ENOENT (there is none, no complaint) or, complained about, EPERM,
 *         EFBIG, EINVAL (no text, no regular file), those of open(2) and read(2).
 */
int config_read(struct config *config, const char *path, const struct config_sink *sink);

/**
 * The same for text in memory.
 * @param path  stands for the file in messages; lives as long as `config`
 * @param text  allocated, taken over
 */
void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink);

/**
 * Defaults, then apapi.conf, then the words of plugstack.conf, of which config=PATH names another
 * file. Complaints name their place.
 * @param words  key=value, NULL allowed where count is 0
 */
void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink);

/** Give the file's text back. NULL is allowed. */
void config_clear(struct config *config);

/** Name and help of key number `index`. @return NULL beyond the last one. */
const char *config_key(size_t index, const char **help);

/** Name and help of key number `index` of the sections. @return its section; NULL: no more. */
const char *config_section_key(size_t index, const char **key, const char **help);

/** Hand the lines of all sections to the sources. Programs only: needs libapapi. */
void config_set_sources(const struct config *config);

/** Read the file for its sections, silently: for programs. NULL: APAPI_CONFIG or the site's. */
void config_use_sources(const char *path);

/** @return the site's apapi.conf. Static storage. Thread-safety: none at the first call. */
const char *config_site_path(void);

/** @return the file that programs read: APAPI_CONFIG of the environment, or the site's. */
const char *config_path(void);

#endif
