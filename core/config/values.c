/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/interval.h"
#include "apapi/live.h"
#include "base/text.h"
#include "config/filename.h"

/* --- values --------------------------------------------------------------------------------- */

#define SEPARATOR ":"        /* of components, and of partitions in `enabled` */
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

int value_format(const char *text, void *field, struct apapi_error *err)
{
    return values_choose(text, format_words, field, err);
}

int config_format_parse(const char *text, enum config_format *format, struct apapi_error *err)
{
    return value_format(text, format, NULL)
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

/* @return where it ends; NULL: it is not valid. */
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

/* The same of a list with commas, without the blanks around the word. */
static size_t name_take(const char **rest, const char **name)
{
    size_t length = text_word(rest, ",", name), blanks = strspn(*name, " \t");

    blanks = blanks < length ? blanks : length;
    *name += blanks;
    length -= blanks;
    while (length > 0 && strchr(" \t", (*name)[length - 1])) {
        length--;
    }
    return length;
}

bool config_names_have(const char *list, const char *name)
{
    const char *rest = *list ? list : NULL, *word;

    while (rest) {
        size_t length = name_take(&rest, &word);

        if (word_is(word, length, name)) {
            return true;
        }
    }
    return false;
}

static int check_names(const char *text, struct apapi_error *err)
{
    const char *rest = *text ? text : NULL, *word;

    while (rest) {
        size_t length = name_take(&rest, &word);

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

int config_key_parse(const struct config_key *key, const char *text, struct config *config,
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
        if (!off && ns < key->min_ns && text[strspn(text, "0123456789")] == '\0') {
            return apapi_fail(err, ERANGE, "a unit is missing: ms, s, m or h");
        }
        if (!off && (ns < key->min_ns || ns > key->max_ns)) {
            return apapi_fail(err, ERANGE, "out of range");
        }
        *(uint64_t *)field = ns;
        return 0;
    case KEY_FORMAT:
        return value_format(text, field, err);
    case KEY_JOB_TOTAL:
        return values_choose(text, totals, field, err);
    default:
        return choose_nice(text, field, err);
    }
}
