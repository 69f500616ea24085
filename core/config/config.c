/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/interval.h"
#include "apapi/live.h"
#include "base/array.h"
#include "base/files.h"
#include "base/lines.h"
#include "base/nearest.h"
#include "base/text.h"
#include "config/filename.h"
#include "config/installed.h"

/* --- values --------------------------------------------------------------------------------- */

#define SEPARATOR ":"        /* between components, and between partitions in `enabled` */
#define MS UINT64_C(1000000) /* [ns] */

static int component_check(const char *list, const char *word, size_t length,
                           struct apapi_error *err)
{
    bool lonely = word_is(word, length, CONFIG_OFF) || word_is(word, length, CONFIG_ALL);

    if (length == 0) {
        return apapi_fail(err, EINVAL, "a name is missing in the list of components '%.80s'", list);
    }
    if (length >= APAPI_COMPONENT_SIZE) {
        return apapi_fail(err, EINVAL, "component '%.20s...' is too long", word);
    }
    if (lonely && strlen(list) > length) {
        return apapi_fail(err, EINVAL, "'%.*s' must be alone, not in the list '%.80s'", (int)length,
                          word, list);
    }
    return 0;
}

int config_components_check(const char *list, struct apapi_error *err)
{
    if (*list == '\0') {
        return apapi_fail(err, EINVAL, "the list of components is empty");
    }
    if (strlen(list) >= CONFIG_LIST_SIZE) {
        return apapi_fail(err, EINVAL, "component list of %zu bytes is too long", strlen(list));
    }
    for (const char *c = list; *c; c++) {
        if (!isgraph((unsigned char)*c)) {
            return apapi_fail(err, EINVAL, "blank or invalid character in the component list");
        }
    }
    for (const char *rest = list, *word; rest;) {
        size_t length = text_word(&rest, SEPARATOR, &word);

        if (component_check(list, word, length, err)) {
            return -1;
        }
    }
    return 0;
}

static int check_intervals(const char *text, struct apapi_error *err)
{
    struct apapi_intervals intervals;

    return apapi_intervals_parse(text, &intervals, err);
}

static int check_path(const char *text, struct apapi_error *err)
{
    if (text[0] != '/') {
        return apapi_fail(err, EINVAL, "not an absolute path");
    }
    return strlen(text) >= CONFIG_LIST_SIZE
               ? apapi_fail(err, ENAMETOOLONG, "path of %zu bytes is too long", strlen(text))
               : 0;
}

static int check_path_or_none(const char *text, struct apapi_error *err)
{
    return *text ? check_path(text, err) : 0;
}

/* Set an enum to the index of `text` in the words. */
static int values_choose(const char *text, const char *const words[], void *field,
                         struct apapi_error *err)
{
    int index = 0;

    while (words[index] && strcmp(words[index], text) != 0) {
        index++;
    }
    if (!words[index]) {
        return apapi_fail(err, EINVAL, "unknown value '%.60s'", text);
    }
    *(int *)field = index;
    return 0;
}

static const char *const format_words[] = {
    [CONFIG_TABLE] = "table",   [CONFIG_JSON] = "json", [CONFIG_CSV] = "csv",
    [CONFIG_MERGED] = "merged", [CONFIG_NONE] = "none", [CONFIG_NONE + 1] = NULL};

const char *config_format_word(enum config_format format)
{
    return format_words[format];
}

int config_format_parse(const char *text, enum config_format *format, struct apapi_error *err)
{
    return values_choose(text, format_words, format, NULL)
               ? apapi_fail(err, EINVAL,
                            "unknown format '%.60s'; available: table, json, csv, merged, none",
                            text)
               : 0;
}

static int choose_nice(const char *text, void *field, struct apapi_error *err)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < -20 || number > 19) {
        return apapi_fail(err, ERANGE, "not a whole number in this range");
    }
    *(int *)field = (int)number;
    return 0;
}

/* Add a range "4" or "4-7" to `cpus`. @return the end of the range; NULL: it is not valid. */
static const char *cpu_range(const char *text, cpu_set_t *cpus)
{
    uint64_t first = 0, last;
    const char *end = text_digits(text, CPU_SETSIZE - 1, &first);

    last = first;
    if (end && *end == '-') {
        end = text_digits(end + 1, CPU_SETSIZE - 1, &last);
    }
    if (!end || last < first || (*end != ',' && *end != '\0')) {
        return NULL;
    }
    for (; first <= last; first++) {
        CPU_SET(first, cpus);
    }
    return end;
}

int config_cpus(const char *list, cpu_set_t *cpus, struct apapi_error *err)
{
    CPU_ZERO(cpus);
    for (const char *rest = list;; rest++) {
        rest = cpu_range(rest, cpus);
        if (!rest) {
            return apapi_fail(err, EINVAL, "'%.60s' is not a list of CPUs from 0 to %d", list,
                              CPU_SETSIZE - 1);
        }
        if (*rest == '\0') {
            return 0;
        }
    }
}

static int check_cpus(const char *text, struct apapi_error *err)
{
    cpu_set_t cpus;

    return *text ? config_cpus(text, &cpus, err) : 0;
}

static int check_names(const char *text, struct apapi_error *err)
{
    const char *rest = *text ? text : NULL, *word;

    while (rest) {
        size_t length = text_name(&rest, &word);

        if (length == 0 || strcspn(word, " \t") < length) {
            return apapi_fail(err, EINVAL, "a name is missing, or a comma, in '%.80s'", text);
        }
    }
    return 0;
}

/* --- enabled -------------------------------------------------------------------------------- */

static int take_answer(const char **rest, const char *text, bool *yes, struct apapi_error *err)
{
    const char *word = "";
    size_t length = *rest ? text_word(rest, SEPARATOR, &word) : 0;

    *yes = word_is(word, length, "yes");
    if (*yes || word_is(word, length, "no")) {
        return 0;
    }
    return apapi_fail(err, EINVAL, "'%.*s' in '%.60s' is neither yes nor no", (int)length, word,
                      text);
}

static int check_enabled(const char *text, struct apapi_error *err)
{
    const char *rest = text, *partition;
    bool yes;

    if (take_answer(&rest, text, &yes, err)) {
        return -1;
    }
    while (rest) {
        size_t length = text_word(&rest, SEPARATOR, &partition);

        if (length == 0 || strcspn(partition, " \t,") < length) {
            return apapi_fail(err, EINVAL, "the name of a partition is missing in '%.60s'", text);
        }
        if (take_answer(&rest, text, &yes, err)) {
            return -1;
        }
    }
    return 0;
}

bool config_enabled(const struct config *config, const char *partition)
{
    const char *rest = config->enabled, *name;
    bool yes, enabled;

    take_answer(&rest, "", &enabled, NULL);
    while (rest) {
        size_t length = text_word(&rest, SEPARATOR, &name);

        take_answer(&rest, "", &yes, NULL);
        if (partition && word_is(name, length, partition)) {
            return yes;
        }
    }
    return enabled;
}

bool config_enabled_varies(const struct config *config)
{
    return strpbrk(config->enabled, SEPARATOR) != NULL;
}

bool config_enabled_anywhere(const struct config *config)
{
    const char *rest = config->enabled, *name;
    bool enabled;

    take_answer(&rest, "", &enabled, NULL);
    while (rest && !enabled) {
        text_word(&rest, SEPARATOR, &name);
        take_answer(&rest, "", &enabled, NULL);
    }
    return enabled;
}

/* --- keys ----------------------------------------------------------------------------------- */

enum {
    KEY_CHECKED,        /* a text */
    KEY_CHECKED_OR_OFF, /* "off" is "" */
    KEY_DURATION,
    KEY_DURATION_OR_OFF, /* "off" is 0 */
    KEY_FORMAT,
    KEY_JOB_TOTAL,
    KEY_NICE
};

const struct config_key config_keys[CONFIG_KEYS] = {
    {"enabled", KEY_CHECKED, offsetof(struct config, enabled), "yes",
     "yes or no, followed by single partitions, for example yes:debug:no", .check = check_enabled},
    {"default", KEY_CHECKED_OR_OFF, offsetof(struct config, components), CONFIG_OFF,
     "components to measure where the user names none, for example rapl:nvml, or off",
     .check = config_components_check},
    {"interval", KEY_CHECKED, offsetof(struct config, interval), "100ms",
     "sampling intervals, for example 100ms or 100ms:nvml:1s", .check = check_intervals},
    {"min_interval", KEY_DURATION, offsetof(struct config, min_interval_ns), "10ms",
     "duration from 1ms to 1h", .min_ns = APAPI_INTERVAL_MIN_NS, .max_ns = APAPI_INTERVAL_MAX_NS},
    {"acct_dir", KEY_CHECKED, offsetof(struct config, acct_dir), NULL,
     "absolute path of the accounting files", .check = check_path},
    {"output", KEY_CHECKED, offsetof(struct config, output), "stderr",
     "stderr, none or a file name, for example energy-%J", .check = filename_check},
    {"format", KEY_FORMAT, offsetof(struct config, format), "table",
     "table, json, csv, merged or none", .check = NULL},
    {"start_timeout", KEY_DURATION, offsetof(struct config, start_timeout_ns), "500ms",
     "duration from 1ms to 1m", .min_ns = MS, .max_ns = 60000 * MS},
    {"stop_timeout", KEY_DURATION, offsetof(struct config, stop_timeout_ns), "1s",
     "duration from 1ms to 1m", .min_ns = MS, .max_ns = 60000 * MS},
    {"checkpoint", KEY_DURATION_OR_OFF, offsetof(struct config, checkpoint_ns), "30s",
     "duration from 1s to 1h, or off", .min_ns = 1000 * MS, .max_ns = 3600000 * MS},
    {"spool_dir", KEY_CHECKED, offsetof(struct config, spool_dir), NULL,
     "absolute path of a folder on a disk of the node's own", .check = check_path},
    {"live_dir", KEY_CHECKED_OR_OFF, offsetof(struct config, live_dir), APAPI_LIVE_DIR,
     "absolute path of a folder on a memory file system, or off", .check = check_path_or_none},
    {"user_records", KEY_CHECKED_OR_OFF, offsetof(struct config, user_records), "",
     "absolute path of a folder for copies of records, which their users can read, or off",
     .check = check_path_or_none},
    {"sampler_cpu", KEY_CHECKED, offsetof(struct config, sampler_cpu), "",
     "CPU numbers, for example 0 or 0,64-67", .check = check_cpus},
    {"sampler_nice", KEY_NICE, offsetof(struct config, sampler_nice), "0",
     "whole number from -20 to 19", .check = NULL},
    {"allow_users", KEY_CHECKED, offsetof(struct config, allow_users), "",
     "names or uids with commas between them", .check = check_names},
    {"deny_partitions", KEY_CHECKED, offsetof(struct config, deny_partitions), "",
     "names with commas between them", .check = check_names},
    {"job_total", KEY_JOB_TOTAL, offsetof(struct config, job_total), "batch",
     "batch, extern or off", .check = NULL},
    {"prometheus_dir", KEY_CHECKED_OR_OFF, offsetof(struct config, prometheus_dir), "",
     "absolute path of a folder", .check = check_path_or_none},
    {"libexec_dir", KEY_CHECKED, offsetof(struct config, libexec_dir), NULL,
     "absolute path of the folder with apapi-sampler and apapi-collect", .check = check_path},
};

/* Set the value of a key. @return 0; -1 with errno EINVAL, ERANGE or ENAMETOOLONG, see `err`. */
static int config_key_parse(const struct config_key *key, const char *text, struct config *config,
                            struct apapi_error *err)
{
    static const char *const totals[] = {[CONFIG_TOTAL_OFF] = CONFIG_OFF,
                                         [CONFIG_TOTAL_BATCH] = "batch",
                                         [CONFIG_TOTAL_EXTERN] = "extern",
                                         [CONFIG_TOTAL_EXTERN + 1] = NULL};
    bool off = strcmp(text, CONFIG_OFF) == 0 &&
               (key->kind == KEY_CHECKED_OR_OFF || key->kind == KEY_DURATION_OR_OFF);
    void *field = (char *)config + key->offset;
    uint64_t ns = 0;

    switch (key->kind) {
    case KEY_CHECKED:
    case KEY_CHECKED_OR_OFF:
        if (!off && key->check(text, err)) {
            return -1;
        }
        *(const char **)field = off ? "" : text;
        return 0;
    case KEY_DURATION:
    case KEY_DURATION_OR_OFF:
        if (!off && apapi_duration_parse(text, &ns, err)) {
            return -1;
        }
        if (!off && (ns < key->min_ns || ns > key->max_ns)) {
            return apapi_fail(err, ERANGE, "out of range");
        }
        *(uint64_t *)field = ns;
        return 0;
    case KEY_FORMAT:
        return values_choose(text, format_words, field, err);
    case KEY_JOB_TOTAL:
        return values_choose(text, totals, field, err);
    default:
        return choose_nice(text, field, err);
    }
}

/* --- the file ------------------------------------------------------------------------------- */

/*
 * Text of the form
 *
 *   # a comment, also after a blank at the end of a line
 *   key = value
 *   [section]
 *   key = "a value with # and blanks at its ends "
 */

/** One `key = value`. The members are valid as long as the text that is read. */
struct ini_line {
    size_t number;       /* from 1 */
    const char *section; /* "": before the first section */
    const char *key;     /* "": the line begins the section */
    const char *value;
};

/*
 * A user who can write the file controls root. The check is the same for commands of users and of
 * root, because both must behave the same. @return the reason to ignore the file; NULL: none
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

/* @return the text of the file, for free(); NULL with errno as config_read(). */
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

/* Read "[section]". @return 0; -1 with errno EINVAL: `text` is not a name in brackets. */
static int ini_section(char *text, struct ini_line *line, struct apapi_error *err)
{
    char *end;

    ini_cut_comment(text);
    end = strchr(text, ']');
    if (!end || *event_text_trim(end + 1)) {
        return apapi_fail(err, EINVAL, "']' is not the last character in '%.60s'", text);
    }
    *end = '\0';
    line->section = event_text_trim(text + 1);
    return *line->section ? 0
                          : apapi_fail(err, EINVAL, "the name of the section is missing in '[]'");
}

/* @return the content of a quoted value; NULL: the closing quote is missing or misplaced. */
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
        return apapi_fail(err, EINVAL,
                          "expected 'key = value' or '[section]', found no '=' in '%.60s'", text);
    }
    *equals = '\0';
    line->key = event_text_trim(text);
    value = event_text_trim(equals + 1);
    if (*line->key == '\0') {
        return apapi_fail(err, EINVAL, "the key is missing before '=' in '%.60s'", value);
    }
    if (*value == '"') {
        bool closed = strchr(value + 1, '"') != NULL;

        value = ini_quoted(value);
        if (!value) {
            return apapi_fail(err, EINVAL, "%.60s: %s", line->key,
                              closed ? "expected nothing after a second '\"'"
                                     : "the second '\"' is missing");
        }
    } else {
        ini_cut_comment(value);
        value = event_text_trim(value);
    }
    line->value = value;
    return 0;
}

/* --- settings ------------------------------------------------------------------------------- */

#define TOP_SECTION "apapi" /* section for the keys that may stand before all sections */
#define LINE_SIZE 1024
#define PLUGSTACK "plugstack.conf"

/* Arrays, not pointers, which would be relocated in each process that loads the plugin. */
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

/* @return whether the key is allowed in apapi.conf only, and not in plugstack.conf. */
static bool key_is_of_file(const struct config_key *key)
{
    return key->offset == offsetof(struct config, prometheus_dir);
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

/* Possible meanings of an unknown name: the nearest valid name, or else all valid names. */
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

/* @param section  the valid names are: its keys; "": the keys of the top section; PLUGSTACK: the
 * keys of plugstack.conf; NULL: the sections */
static void complain_unknown(const struct config_sink *sink, const char *where, const char *name,
                             const char *section)
{
    bool top = section && !*section, words = section && strcmp(section, PLUGSTACK) == 0;
    struct meant meant = {.all = ""};
    const char *before = "";
    char nearest[128];

    nearest_begin(&meant.nearest, name);
    for (size_t i = 0; (top || words) && i < CONFIG_KEYS; i++) {
        if (top || !key_is_of_file(&config_keys[i])) {
            meant_offer(&meant, config_keys[i].name);
        }
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

/* @param key  NULL: any key */
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

static bool is_top(const char *section)
{
    return *section == '\0' || strcmp(section, TOP_SECTION) == 0;
}

/* Read a line of another section. The source interprets its value. */
static void read_setting(struct config *config, const struct ini_line *line,
                         const struct config_sink *sink)
{
    const struct config_setting *before = config_setting_find(config, line->section, line->key);
    char text[LINE_SIZE];

    if (!section_has(line->section, line->key)) {
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
    struct event_lines lines = event_lines_of(text);
    struct event_line found;
    struct apapi_error err;
    const char *section = "";
    char where[LINE_SIZE];

    free(config->file);
    config->file = text;
    config->path = path;
    while (event_lines_next(&lines, &found)) {
        struct ini_line line = {found.number, section, "", ""};
        bool begins = *found.text == '[';

        if (ini_is_comment(found.text)) {
            continue;
        }
        if ((begins ? ini_section : ini_pair)(found.text, &line, &err)) {
            config_complain(sink, "%.200s:%zu: %s", config->path, line.number, err.text);
        } else if (begins) {
            section = line.section;
            if (!is_top(section) && !section_has(section, NULL)) {
                snprintf(where, sizeof where, "%.200s:%zu: unknown section", path, line.number);
                complain_unknown(sink, where, section, NULL);
            }
        } else if (is_top(section)) {
            config_read_key(config, &line, sink);
        } else if (section_has(section, NULL)) {
            read_setting(config, &line, sink);
        }
    }
}

int config_read(struct config *config, const char *path, const struct config_sink *sink)
{
    struct apapi_error err;
    char *text;

    config_defaults(config);
    text = file_read(path, &err);
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
    const struct config_key *key = key_find(word, length);
    const struct config_origin origin = {.text = word + length + (word[length] != '\0'),
                                         .word = true};
    struct apapi_error err;

    if (word_path(word)) {
        return;
    }
    if (length == 0 || word[length] == '\0') {
        config_complain(sink, PLUGSTACK ": '%.100s': arguments are key=value, without blanks",
                        word);
    } else if (!key) {
        complain_unknown(sink, PLUGSTACK ": unknown argument", word, PLUGSTACK);
    } else if (key_is_of_file(key)) {
        config_complain(sink, PLUGSTACK ": '%.100s' has no effect: it belongs in apapi.conf", word);
    } else if (config->origins[key - config_keys].word) {
        config_complain(sink, PLUGSTACK ": '%.100s' has no effect: %s is already set", word,
                        key->name);
    } else if (key_set(config, key, &origin, &err)) {
        config_complain(sink, PLUGSTACK ": '%.100s' has no effect: %s; %s= takes: %s", word,
                        err.text, key->name, key->help);
    }
}

void config_load(struct config *config, int count, char *const words[],
                 const struct config_sink *sink)
{
    const char *path = config_site_path();

    for (int i = 0; i < count; i++) {
        const char *other = word_path(words[i]);

        path = other ? other : path;
    }
    if (config_read(config, path, sink) && errno == ENOENT && path != config_site_path()) {
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
