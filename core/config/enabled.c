/* SPDX-License-Identifier: BSD-3-Clause */
/* enabled=: yes or no, with exceptions for single partitions. */
#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "config/values.h"

#define SEPARATOR ":"

/* The next word. `rest` is set to the text after its separator, NULL at the end. */
static size_t enabled_take(const char **rest, const char **word)
{
    size_t length = strcspn(*rest, SEPARATOR);

    *word = *rest;
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return length;
}

static int take_answer(const char **rest, const char *text, bool *yes, struct apapi_error *err)
{
    const char *word = "";
    size_t length = *rest ? enabled_take(rest, &word) : 0;

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
        size_t length = enabled_take(&rest, &partition);

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
        size_t length = enabled_take(&rest, &name);

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
        enabled_take(&rest, &name);
        take_answer(&rest, "", &enabled, NULL);
    }
    return enabled;
}
