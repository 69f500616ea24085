/* SPDX-License-Identifier: BSD-3-Clause */
#include "arguments.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "apapi/error.h"
#include "apapi/interval.h"
#include "channel/deadline.h"
#include "components.h"

#define TIMEOUT_MIN_NS DEADLINE_MS
#define TIMEOUT_MAX_NS (60000 * DEADLINE_MS)

static int parse_components(const char *value, void *field, struct apapi_error *err)
{
    if (spank_apapi_components_check(value, err)) {
        return -1;
    }
    *(const char **)field = strcmp(value, SPANK_APAPI_OFF) == 0 ? "" : value;
    return 0;
}

static int parse_intervals(const char *value, void *field, struct apapi_error *err)
{
    struct apapi_intervals intervals;

    if (apapi_intervals_parse(value, &intervals, err)) {
        return -1;
    }
    *(const char **)field = value;
    return 0;
}

static int parse_path(const char *value, void *field, struct apapi_error *err)
{
    if (value[0] != '/') {
        return apapi_fail(err, EINVAL, "not an absolute path");
    }
    if (strlen(value) >= SPANK_APAPI_LIST_SIZE) {
        return apapi_fail(err, ENAMETOOLONG, "path of %zu bytes is too long", strlen(value));
    }
    *(const char **)field = value;
    return 0;
}

static int parse_timeout(const char *value, void *field, struct apapi_error *err)
{
    uint64_t timeout_ns;

    if (apapi_duration_parse(value, &timeout_ns, err)) {
        return -1;
    }
    if (timeout_ns < TIMEOUT_MIN_NS || timeout_ns > TIMEOUT_MAX_NS) {
        return apapi_fail(err, ERANGE, "out of range");
    }
    *(uint64_t *)field = timeout_ns;
    return 0;
}

static const struct argument {
    const char *key;
    int (*parse)(const char *value, void *field, struct apapi_error *err);
    size_t offset;
    const char *help;
} table[] = {
    {"default", parse_components, offsetof(struct spank_apapi_arguments, components),
     "components to measure where the user names none, for example rapl:nvml"},
    {"interval", parse_intervals, offsetof(struct spank_apapi_arguments, interval),
     "sampling intervals, for example 100ms or 100ms:nvml:1s"},
    {"acct_dir", parse_path, offsetof(struct spank_apapi_arguments, acct_dir),
     "absolute path of the accounting files"},
    {"start_timeout", parse_timeout, offsetof(struct spank_apapi_arguments, start_timeout_ns),
     "duration from 1ms to 1m"},
    {"stop_timeout", parse_timeout, offsetof(struct spank_apapi_arguments, stop_timeout_ns),
     "duration from 1ms to 1m"},
    {"libexec_dir", parse_path, offsetof(struct spank_apapi_arguments, libexec_dir),
     "absolute path of the folder with apapi-sampler and apapi-collect"},
};

#define TABLE_SIZE (sizeof table / sizeof *table)

static const struct argument *argument_find(const char *word, size_t length)
{
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        if (strlen(table[i].key) == length && strncmp(table[i].key, word, length) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

static void complain_unknown(const char *word, spank_apapi_complain_f complain)
{
    char line[512];

    snprintf(line, sizeof line, "apapi: plugstack.conf: unknown argument '%.100s'; valid are",
             word);
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        size_t length = strlen(line);

        snprintf(line + length, sizeof line - length, "%s %s=", i ? "," : "", table[i].key);
    }
    complain(line);
}

static void complain_value(const char *word, const struct argument *argument,
                           const struct apapi_error *err, spank_apapi_complain_f complain)
{
    char line[768];

    snprintf(line, sizeof line, "apapi: plugstack.conf: '%.100s' has no effect: %s; %s= takes: %s",
             word, err->text, argument->key, argument->help);
    complain(line);
}

static void argument_parse(const char *word, struct spank_apapi_arguments *arguments,
                           spank_apapi_complain_f complain)
{
    size_t length = strcspn(word, "=");
    const struct argument *argument = word[length] ? argument_find(word, length) : NULL;
    struct apapi_error err;

    if (argument &&
        argument->parse(word + length + 1, (char *)arguments + argument->offset, &err) == 0) {
        return;
    }
    if (complain && argument) {
        complain_value(word, argument, &err, complain);
    } else if (complain) {
        complain_unknown(word, complain);
    }
}

void spank_apapi_arguments_parse(int count, char *const words[],
                                 struct spank_apapi_arguments *arguments,
                                 spank_apapi_complain_f complain)
{
    *arguments = (struct spank_apapi_arguments){
        .components = "",
        .interval = "",
        .acct_dir = APAPI_ACCT_DIR,
        .libexec_dir = APAPI_LIBEXEC_DIR,
        .start_timeout_ns = 500 * DEADLINE_MS,
        .stop_timeout_ns = 1000 * DEADLINE_MS,
    };
    for (int i = 0; i < count; i++) {
        argument_parse(words[i], arguments, complain);
    }
}
