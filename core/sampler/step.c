/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/step.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct text_key {
    const char *key;
    size_t offset, size;
} text_keys[] = {
#define TEXT(key, field)                                                                           \
    {                                                                                              \
        key, offsetof(struct step, field), sizeof((struct step *)0)->field                         \
    }
    TEXT("components", components), TEXT("acct_dir", acct_dir),  TEXT("cluster", id.cluster),
    TEXT("step", id.step),          TEXT("name", id.name),       TEXT("node", id.node),
    TEXT("user", id.user),          TEXT("account", id.account), TEXT("partition", id.partition),
#undef TEXT
};

static const struct number_key {
    const char *key;
    size_t offset;
} number_keys[] = {
    {"job", offsetof(struct step, id.job)},
    {"node_index", offsetof(struct step, id.node_index)},
    {"nodes", offsetof(struct step, id.nodes)},
    {"tasks", offsetof(struct step, id.tasks)},
    {"uid", offsetof(struct step, id.uid)},
};

static void parse_texts(const struct message *message, struct step *step)
{
    for (size_t i = 0; i < sizeof text_keys / sizeof *text_keys; i++) {
        const char *value = message_value(message, text_keys[i].key);

        snprintf((char *)step + text_keys[i].offset, text_keys[i].size, "%s", value ? value : "");
    }
}

static int parse_number(const char *text, uint32_t *number)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(text, &end, 10);
    if (errno || end == text || *end || value > UINT32_MAX) {
        return -1;
    }
    *number = (uint32_t)value;
    return 0;
}

static int parse_numbers(const struct message *message, struct step *step, struct apapi_error *err)
{
    for (size_t i = 0; i < sizeof number_keys / sizeof *number_keys; i++) {
        const char *value = message_value(message, number_keys[i].key);
        uint32_t number = APAPI_UNKNOWN;

        if (value && parse_number(value, &number)) {
            return apapi_fail(err, EINVAL, "%s: '%.60s' is not a number", number_keys[i].key,
                              value);
        }
        memcpy((char *)step + number_keys[i].offset, &number, sizeof number);
    }
    return 0;
}

int step_parse(const struct message *message, struct step *step, struct apapi_error *err)
{
    const char *intervals = message_value(message, "intervals");
    const char *table = message_value(message, "table");

    memset(step, 0, sizeof *step);
    step->intervals.default_ns = APAPI_INTERVAL_DEFAULT_NS;
    step->wants_table = table && strcmp(table, "1") == 0;
    parse_texts(message, step);
    if (*step->id.node == '\0') {
        return apapi_fail(err, EINVAL, "the node's name is missing");
    }
    if (intervals && apapi_intervals_parse(intervals, &step->intervals, err)) {
        return -1;
    }
    return parse_numbers(message, step, err);
}
