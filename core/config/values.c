/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/interval.h"
#include "base/text.h"
#include "config/filename.h"

/* --- values --------------------------------------------------------------------------------- */

#define SEPARATOR ":"        /* of components, and of partitions in `enabled` */
#define MS UINT64_C(1000000) /* [ns] */
#define TIMEOUT_MIN_NS MS
#define TIMEOUT_MAX_NS (60000 * MS)
#define CHECKPOINT_MIN_NS (1000 * MS)
#define CHECKPOINT_MAX_NS (3600000 * MS)

/* The next word of a list. `rest` is set to the text after its separator, NULL at the end. */
static size_t word_take(const char **rest, const char *separator, const char **word)
{
    size_t length = strcspn(*rest, separator);

    *word = *rest;
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return length;
}

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
        size_t length = word_take(&rest, SEPARATOR, &word);

        if (component_check(list, word, length, err)) {
            return -1;
        }
    }
    return 0;
}

int value_components(const char *text, void *field, struct apapi_error *err)
{
    if (config_components_check(text, err)) {
        return -1;
    }
    *(const char **)field = strcmp(text, CONFIG_OFF) == 0 ? "" : text;
    return 0;
}

int value_intervals(const char *text, void *field, struct apapi_error *err)
{
    struct apapi_intervals intervals;

    if (apapi_intervals_parse(text, &intervals, err)) {
        return -1;
    }
    *(const char **)field = text;
    return 0;
}

static int duration(const char *text, uint64_t min_ns, uint64_t max_ns, void *field,
                    struct apapi_error *err)
{
    uint64_t ns;

    if (apapi_duration_parse(text, &ns, err)) {
        return -1;
    }
    if (ns < min_ns && text[strspn(text, "0123456789")] == '\0') {
        return apapi_fail(err, ERANGE, "a unit is missing: ms, s, m or h");
    }
    if (ns < min_ns || ns > max_ns) {
        return apapi_fail(err, ERANGE, "out of range");
    }
    *(uint64_t *)field = ns;
    return 0;
}

int value_interval(const char *text, void *field, struct apapi_error *err)
{
    return duration(text, APAPI_INTERVAL_MIN_NS, APAPI_INTERVAL_MAX_NS, field, err);
}

int value_timeout(const char *text, void *field, struct apapi_error *err)
{
    return duration(text, TIMEOUT_MIN_NS, TIMEOUT_MAX_NS, field, err);
}

int value_checkpoint(const char *text, void *field, struct apapi_error *err)
{
    if (strcmp(text, CONFIG_OFF) == 0) {
        *(uint64_t *)field = 0;
        return 0;
    }
    return duration(text, CHECKPOINT_MIN_NS, CHECKPOINT_MAX_NS, field, err);
}

int value_path(const char *text, void *field, struct apapi_error *err)
{
    if (text[0] != '/') {
        return apapi_fail(err, EINVAL, "not an absolute path");
    }
    if (strlen(text) >= CONFIG_LIST_SIZE) {
        return apapi_fail(err, ENAMETOOLONG, "path of %zu bytes is too long", strlen(text));
    }
    *(const char **)field = text;
    return 0;
}

int value_path_or_none(const char *text, void *field, struct apapi_error *err)
{
    if (*text == '\0' || strcmp(text, CONFIG_OFF) == 0) {
        *(const char **)field = "";
        return 0;
    }
    return value_path(text, field, err);
}

int value_output(const char *text, void *field, struct apapi_error *err)
{
    if (filename_check(text, err)) {
        return -1;
    }
    *(const char **)field = text;
    return 0;
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

int value_job_total(const char *text, void *field, struct apapi_error *err)
{
    static const char *const words[] = {[CONFIG_TOTAL_OFF] = CONFIG_OFF,
                                        [CONFIG_TOTAL_BATCH] = "batch",
                                        [CONFIG_TOTAL_EXTERN] = "extern",
                                        [CONFIG_TOTAL_EXTERN + 1] = NULL};

    return values_choose(text, words, field, err);
}

int value_nice(const char *text, void *field, struct apapi_error *err)
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

int value_cpus(const char *text, void *field, struct apapi_error *err)
{
    cpu_set_t cpus;

    if (*text && config_cpus(text, &cpus, err)) {
        return -1;
    }
    *(const char **)field = text;
    return 0;
}

/* The same of a list with commas, without the blanks around the word. */
static size_t name_take(const char **rest, const char **name)
{
    size_t length = word_take(rest, ",", name), blanks = strspn(*name, " \t");

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

int value_names(const char *text, void *field, struct apapi_error *err)
{
    const char *rest = *text ? text : NULL, *word;

    while (rest) {
        size_t length = name_take(&rest, &word);

        if (length == 0 || strcspn(word, " \t") < length) {
            return apapi_fail(err, EINVAL, "a name is missing, or a comma, in '%.80s'", text);
        }
    }
    *(const char **)field = text;
    return 0;
}

/* --- enabled -------------------------------------------------------------------------------- */

static int take_answer(const char **rest, const char *text, bool *yes, struct apapi_error *err)
{
    const char *word = "";
    size_t length = *rest ? word_take(rest, SEPARATOR, &word) : 0;

    *yes = word_is(word, length, "yes");
    if (*yes || word_is(word, length, "no")) {
        return 0;
    }
    return apapi_fail(err, EINVAL, "'%.*s' in '%.60s' is neither yes nor no", (int)length, word,
                      text);
}

int value_enabled(const char *text, void *field, struct apapi_error *err)
{
    const char *rest = text, *partition;
    bool yes;

    if (take_answer(&rest, text, &yes, err)) {
        return -1;
    }
    while (rest) {
        size_t length = word_take(&rest, SEPARATOR, &partition);

        if (length == 0 || strcspn(partition, " \t,") < length) {
            return apapi_fail(err, EINVAL, "the name of a partition is missing in '%.60s'", text);
        }
        if (take_answer(&rest, text, &yes, err)) {
            return -1;
        }
    }
    *(const char **)field = text;
    return 0;
}

bool config_enabled(const struct config *config, const char *partition)
{
    const char *rest = config->enabled, *name;
    bool yes, enabled;

    take_answer(&rest, "", &enabled, NULL);
    while (rest) {
        size_t length = word_take(&rest, SEPARATOR, &name);

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
        word_take(&rest, SEPARATOR, &name);
        take_answer(&rest, "", &enabled, NULL);
    }
    return enabled;
}
