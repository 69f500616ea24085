/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_CONFIG_H
#define APAPI_CONFIG_CONFIG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "config/values.h"

#define CONFIG_FILE_MAX 65536 /* bytes */

/*
 * The configuration of a site: apapi.conf, and the words after the plugin in plugstack.conf, which
 * have precedence. These files are also compiled into the plugin, so they need libc only. Users
 * find the keys in apapi.conf(5).
 */

/** Receives one line for each problem, without a newline. */
typedef void (*config_complain_f)(const char *text, void *context);
struct config_sink {
    config_complain_f complain; /* NULL: problems are not reported */
    void *context;
};

/** Report a problem, formatted as by printf(), in up to 1023 bytes. */
void config_complain(const struct config_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Set all defaults. Thread-safety: none at the first call. */
void config_defaults(struct config *config);

/**
 * Read apapi.conf. Errors in it are reported and have no effect. It must be a regular file that
 * belongs to root and that no one else can write, or the reader's own file.
 * @param path  must stay valid as long as `config`
 * @return 0; -1 with errno ENOENT (no file, not reported) or, reported, EPERM, EFBIG, EINVAL (not
 * text, not a regular file), those of open(2) and read(2).
 */
int config_read(struct config *config, const char *path, const struct config_sink *sink);

/**
 * The same for a text in memory.
 * @param path  name of the file in messages; must stay valid as long as `config`
 * @param text  allocated; ownership is taken
 */
void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink);

/**
 * Load the defaults, then apapi.conf, then the words of plugstack.conf; config=PATH there names
 * another file. Messages name file and line.
 * @param words  key=value, may be NULL if count is 0
 */
void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink);

/** Apply one word of plugstack.conf, which must stay valid. config=PATH has no effect here. */
void config_set_word(struct config *config, const char *word, const struct config_sink *sink);

/** Free the file's text. NULL is allowed. */
void config_clear(struct config *config);

/** @return a key in a section; NULL: the file does not have it. */
const struct config_setting *config_setting_find(const struct config *config, const char *section,
                                                 const char *key);

/** @return its value; NULL: the file does not have it. */
const char *config_section_value(const struct config *config, const char *section, const char *key);

/** Pass the lines of all sections to the sources. Programs only: needs libapapi. */
void config_set_sources(const struct config *config);

/** For programs: read the file silently for its sections. NULL: APAPI_CONFIG or the site's file. */
void config_use_sources(const char *path);

/** @return the site's apapi.conf. Static storage. Thread-safety: none at the first call. */
const char *config_site_path(void);

/** @return the file that programs read: APAPI_CONFIG, or the site's file. */
const char *config_path(void);

#endif
