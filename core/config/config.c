/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/error.h"
#include "base/array.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "base/text.h"
#include "config/installed.h"
#include "config/values.h"

/*
 * Text of the form
 *
 *   # a comment, also after a blank at the end of a line
 *   key = value
 *   [section]
 *   key = "a value with # and blanks at its ends "
 */

/** Iterates over the lines of a text. */
struct ini {
    struct event_lines lines;
    const char *section;
};

/** One `key = value`. Its texts are valid as long as the text. */
struct ini_line {
    size_t number;       /* from 1 */
    const char *section; /* "": before the first section */
    const char *key;     /* never "" */
    const char *value;
};

enum ini_result {
    INI_END,
    INI_LINE,
    INI_BAD /* `err` says what is wrong in line line->number; the iteration can continue */
};

/* --- the file ------------------------------------------------------------------------------- */

/*
 * A user who can write the file controls root. The check gives the same answer for commands of
 * users and for root's, since both must behave the same.
 */
static const char *file_check(const struct stat *file)
{
    if (file->st_uid != 0 && file->st_uid != geteuid()) {
        return "ignored: not owned by root (chown root)";
    }
    if (file->st_uid == 0 && (file->st_mode & (S_IWGRP | S_IWOTH))) {
        return "ignored: others can write it (chmod go-w)";
    }
    return NULL;
}

/* @return for free(); NULL with errno as config_read(). */
static char *file_read(const char *path, struct apapi_error *err)
{
    struct stat file;
    size_t size;
    char *text = text_file_read(path, CONFIG_FILE_MAX, &size, &file);
    int code = text ? EPERM : errno == EISDIR ? EINVAL : errno;
    const char *why = text             ? file_check(&file)
                      : code == EFBIG  ? "larger than 64 KiB"
                      : code == EINVAL ? "not a regular file"
                                       : strerror(code);

    if (text && !why && strlen(text) != size) {
        code = EINVAL;
        why = "not a text: it has a byte 0";
    }
    if (why) {
        free(text);
        text = NULL;
        apapi_fail(err, code, "%.150s: %s", path, why);
    }
    return text;
}

/* --- lines ---------------------------------------------------------------------------------- */

static bool ini_is_comment(const char *text)
{
    return *text == '#' || *text == ';';
}

/* Cut off a comment after a blank. */
static void ini_cut_comment(char *text)
{
    for (char *c = text; *c; c++) {
        if (ini_is_comment(c) && (c == text || strchr(LINES_BLANKS, c[-1]))) {
            *c = '\0';
            return;
        }
    }
}

static int ini_bad(struct apapi_error *err, const char *what, const char *where)
{
    return apapi_fail(err, EINVAL, "%s in '%.60s'", what, where);
}

/* @return 0; -1: `text` is not a name in brackets. */
static int ini_section(struct ini *ini, char *text, struct apapi_error *err)
{
    char *end;
    char *name;

    ini_cut_comment(text);
    end = strchr(text, ']');
    if (!end || *event_text_trim(end + 1)) {
        return ini_bad(err, "']' is not the last character", text);
    }
    *end = '\0';
    name = event_text_trim(text + 1);
    if (*name == '\0') {
        return apapi_fail(err, EINVAL, "the name of the section is missing in '[]'");
    }
    ini->section = name;
    return 0;
}

/* The content of a quoted value; NULL if the closing quote is missing or misplaced. */
static char *ini_quoted(char *text)
{
    char *end = strchr(text + 1, '"');
    char *rest;

    if (!end) {
        return NULL;
    }
    rest = end + 1 + strspn(end + 1, LINES_BLANKS);
    *end = '\0';
    return *rest == '\0' || (ini_is_comment(rest) && rest > end + 1) ? text + 1 : NULL;
}

static int ini_pair(char *text, struct ini_line *line, struct apapi_error *err)
{
    char *equals = strchr(text, '=');
    char *value;

    if (!equals) {
        return ini_bad(err, "expected 'key = value' or '[section]', found no '='", text);
    }
    *equals = '\0';
    line->key = event_text_trim(text);
    value = event_text_trim(equals + 1);
    if (*line->key == '\0') {
        return ini_bad(err, "the key is missing before '='", value);
    }
    if (*value == '"') {
        value = ini_quoted(value);
        if (!value) {
            return apapi_fail(err, EINVAL, "%.60s: expected nothing after a second '\"'",
                              line->key);
        }
    } else {
        ini_cut_comment(value);
        value = event_text_trim(value);
    }
    line->value = value;
    return 0;
}

static enum ini_result ini_next(struct ini *ini, struct ini_line *line, struct apapi_error *err)
{
    struct event_line found;

    while (event_lines_next(&ini->lines, &found)) {
        if (ini_is_comment(found.text)) {
            continue;
        }
        *line = (struct ini_line){found.number, ini->section, "", ""};
        if (*found.text != '[') {
            return ini_pair(found.text, line, err) ? INI_BAD : INI_LINE;
        }
        if (ini_section(ini, found.text, err)) {
            return INI_BAD;
        }
    }
    return INI_END;
}

/* --- settings ------------------------------------------------------------------------------- */

#define TOP_SECTION "apapi" /* the same as no section */
#define LINE_SIZE 1024
#define PLUGSTACK "plugstack.conf"

/* Without pointers, which would have to be relocated in each process that loads the plugin. */
static const struct section_key {
    char section[12], name[20];
} section_keys[] = {
#define CONFIG_SECTION_KEY(section, key, check, help) {#section, #key},
#include "config/sections.def"
#undef CONFIG_SECTION_KEY
};
#define SECTION_KEY_COUNT COUNT_OF(section_keys)
_Static_assert(SECTION_KEY_COUNT <= CONFIG_SETTINGS_MAX, "too few settings");

static const char *key_standard(const struct config_key *key)
{
    switch (key->offset) {
    case offsetof(struct config, acct_dir):
        return installed_path(INSTALLED_ACCT);
    case offsetof(struct config, spool_dir):
        return installed_path(INSTALLED_SPOOL);
    case offsetof(struct config, libexec_dir):
        return installed_path(INSTALLED_LIBEXEC);
    default:
        return key->standard;
    }
}

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    config->path = "";
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        const char *standard = key_standard(&config_keys[i]);

        config_key_parse(&config_keys[i], standard, config, NULL);
        config->origins[i].text = standard;
    }
}

const char *config_site_path(void)
{
    static char path[PATH_MAX];

    if (*path == '\0') {
        snprintf(path, sizeof path, "%s/apapi.conf", installed_path(INSTALLED_CONFIG));
    }
    return path;
}

const char *config_path(void)
{
    const char *path = secure_getenv("APAPI_CONFIG");

    return path && *path ? path : config_site_path();
}

static const struct config_key *key_find(const char *word, size_t length)
{
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        if (word_is(word, length, config_keys[i].name)) {
            return &config_keys[i];
        }
    }
    return NULL;
}

static int key_set(struct config *config, const struct config_key *key,
                   const struct config_origin *origin, struct apapi_error *err)
{
    if (config_key_parse(key, origin->text, config, err)) {
        return -1;
    }
    config->origins[key - config_keys] = *origin;
    return 0;
}

void config_complain(const struct config_sink *sink, const char *format, ...)
{
    char text[LINE_SIZE];
    va_list values;

    if (sink && sink->complain) {
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
        sink->complain(text, sink->context);
    }
}

/* Possible meanings of an unknown name: the nearest valid one, or else all. */
struct meant {
    struct nearest nearest;
    char all[LINE_SIZE / 2];
};

static void meant_offer(struct meant *meant, const char *name)
{
    size_t length = strlen(meant->all);

    nearest_offer(name, &meant->nearest);
    snprintf(meant->all + length, sizeof meant->all - length, "%s %.60s",
             length ? "," : "; valid are", name);
}

/* @param section  its keys are the valid names; "": those of the top one; NULL: sections are */
static void complain_unknown(const struct config_sink *sink, const char *where, const char *name,
                             const char *section)
{
    struct meant meant = {.all = ""};
    const char *before = "";
    char nearest[128];

    nearest_begin(&meant.nearest, name);
    for (size_t i = 0; section && !*section && i < CONFIG_KEYS; i++) {
        meant_offer(&meant, config_keys[i].name);
    }
    if (!section) {
        meant_offer(&meant, TOP_SECTION);
    }
    for (size_t i = 0; i < SECTION_KEY_COUNT; i++) {
        const struct section_key *one = &section_keys[i];

        if (section ? strcmp(one->section, section) == 0 : strcmp(one->section, before) != 0) {
            meant_offer(&meant, section ? one->name : one->section);
        }
        before = one->section;
    }
    if (section && *section && key_find(name, strlen(name))) {
        snprintf(meant.all, sizeof meant.all, "; it belongs before the first section, or in [%s]",
                 TOP_SECTION);
    }
    nearest_text(&meant.nearest, nearest, sizeof nearest);
    config_complain(sink, "%s '%.60s'%s", where, meant.nearest.wanted,
                    *nearest ? nearest : meant.all);
}

/* Read a line of the top section. */
static void config_read_key(struct config *config, const struct ini_line *line,
                            const struct config_sink *sink)
{
    const struct config_key *key = key_find(line->key, strlen(line->key));
    const struct config_origin origin = {.text = line->value, .line = line->number};
    char text[LINE_SIZE];
    struct apapi_error err;

    snprintf(text, sizeof text, "%.200s:%zu: unknown key", config->path, line->number);
    if (!key) {
        complain_unknown(sink, text, line->key, "");
        return;
    }
    if (config->origins[key - config_keys].line) {
        config_complain(sink, "%.200s:%zu: %s is already set in line %zu", config->path,
                        line->number, key->name, config->origins[key - config_keys].line);
    } else if (key_set(config, key, &origin, &err)) {
        config_complain(sink, "%.200s:%zu: '%s = %.60s' has no effect: %s; %s takes: %s",
                        config->path, line->number, key->name, line->value, err.text, key->name,
                        key->help);
    }
}

/* @param key  NULL: any */
static bool section_has(const char *section, const char *key)
{
    for (size_t i = 0; i < SECTION_KEY_COUNT; i++) {
        if (strcmp(section_keys[i].section, section) == 0 &&
            (!key || strcmp(section_keys[i].name, key) == 0)) {
            return true;
        }
    }
    return false;
}

const struct config_setting *config_setting_find(const struct config *config, const char *section,
                                                 const char *key)
{
    for (size_t i = 0; i < config->setting_count; i++) {
        if (strcmp(config->settings[i].section, section) == 0 &&
            strcmp(config->settings[i].key, key) == 0) {
            return &config->settings[i];
        }
    }
    return NULL;
}

/* Read a line of another section. The source interprets its value. */
static void read_setting(struct config *config, const struct ini_line *line,
                         const struct config_sink *sink)
{
    const struct config_setting *before = config_setting_find(config, line->section, line->key);
    char text[LINE_SIZE];

    if (!section_has(line->section, NULL)) {
        snprintf(text, sizeof text, "%.200s:%zu: unknown section", config->path, line->number);
        complain_unknown(sink, text, line->section, NULL);
    } else if (!section_has(line->section, line->key)) {
        snprintf(text, sizeof text, "%.200s:%zu: [%.60s]: unknown key", config->path, line->number,
                 line->section);
        complain_unknown(sink, text, line->key, line->section);
    } else if (before) {
        config_complain(sink, "%.200s:%zu: [%s]: %s is already set in line %zu", config->path,
                        line->number, line->section, line->key, before->line);
    } else {
        config->settings[config->setting_count++] =
            (struct config_setting){line->section, line->key, line->value, line->number};
    }
}

void config_parse(struct config *config, const char *path, char *text,
                  const struct config_sink *sink)
{
    struct ini ini = {.lines = event_lines_of(text), .section = ""};
    struct ini_line line;
    struct apapi_error err;
    enum ini_result result;

    free(config->file);
    config->file = text;
    config->path = path;
    while ((result = ini_next(&ini, &line, &err)) != INI_END) {
        if (result == INI_BAD) {
            config_complain(sink, "%.200s:%zu: %s", config->path, line.number, err.text);
        } else if (*line.section == '\0' || strcmp(line.section, TOP_SECTION) == 0) {
            config_read_key(config, &line, sink);
        } else {
            read_setting(config, &line, sink);
        }
    }
}

int config_read(struct config *config, const char *path, const struct config_sink *sink)
{
    struct apapi_error err;
    char *text = file_read(path, &err);

    if (!text) {
        if (errno != ENOENT) {
            config_complain(sink, "%s", err.text);
        }
        return -1;
    }
    config_parse(config, path, text, sink);
    return 0;
}

/* @return the path of "config=PATH"; NULL: a different word. */
static const char *word_path(const char *word)
{
    size_t length = strlen("config=");

    return strncmp(word, "config=", length) == 0 ? word + length : NULL;
}

void config_set_word(struct config *config, const char *word, const struct config_sink *sink)
{
    size_t length = strcspn(word, "=");
    const struct config_key *key = word[length] ? key_find(word, length) : NULL;
    const struct config_origin origin = {.text = word[length] ? word + length + 1 : "",
                                         .word = true};
    struct apapi_error err;

    if (word_path(word)) {
        return;
    }
    if (!key) {
        complain_unknown(sink, PLUGSTACK ": unknown argument", word, "");
    } else if (key_set(config, key, &origin, &err)) {
        config_complain(sink, PLUGSTACK ": '%.100s' has no effect: %s; %s= takes: %s", word,
                        err.text, key->name, key->help);
    }
}

void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink)
{
    const char *path = config_site_path();
    bool named = false;

    for (int i = 0; i < count; i++) {
        const char *other = word_path(words[i]);

        path = other ? other : path;
        named = named || other;
    }
    config_defaults(config);
    if (config_read(config, path, sink) && errno == ENOENT && named) {
        config_complain(sink, PLUGSTACK ": 'config=%.200s': there is no such file", path);
    }
    for (int i = 0; i < count; i++) {
        config_set_word(config, words[i], sink);
    }
}

void config_clear(struct config *config)
{
    if (config) {
        free(config->file);
        config_defaults(config);
    }
}

const char *config_section_value(const struct config *config, const char *section, const char *key)
{
    const struct config_setting *setting = config_setting_find(config, section, key);

    return setting ? setting->value : NULL;
}
