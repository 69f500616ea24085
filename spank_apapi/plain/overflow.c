/* SPDX-License-Identifier: BSD-3-Clause */
#include "overflow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int overflow_append(struct overflow *overflow, const char *text, struct apapi_error *err)
{
    size_t length = strlen(overflow->lines);

    if (length + 1 + strlen(text) >= sizeof overflow->lines) {
        return apapi_fail(err, E2BIG, "the thresholds are too long: %d bytes in all",
                          OVERFLOW_LINES_SIZE - 1);
    }
    snprintf(overflow->lines + length, sizeof overflow->lines - length, "%s%s", length ? "\n" : "",
             text);
    return 0;
}

int overflow_add(struct overflow *overflow, const char *text, struct apapi_error *err)
{
    if (strchr(text, '\n')) {
        return apapi_fail(err, EINVAL, "one threshold in one line: repeat the option for others");
    }
    if (!overflow->asked) {
        overflow->asked = true;
        overflow->lines[0] = '\0';
    }
    return overflow_append(overflow, text, err);
}

bool overflow_has_scope(const char *lines, const char *scope)
{
    size_t length = strlen(scope);

    for (; lines && *lines; lines += *lines == '\n') {
        const char *word = lines + strspn(lines, " \t"), *quantity;

        if (strncmp(word, scope, length) == 0 && strspn(word + length, " \t") > 0) {
            quantity = word + length + strspn(word + length, " \t");
            if (!strchr("<>=:\n", *quantity) && strncmp(quantity, "every", 5) != 0) {
                return true;
            }
        }
        lines += strcspn(lines, "\n");
    }
    return false;
}

int overflow_inherit(struct overflow *overflow, const char *last, const char *variable,
                     struct apapi_error *err)
{
    const char *line = variable ? strrchr(variable, '\n') : NULL;
    bool all = variable && strcmp(line ? line + 1 : variable, last) == 0;

    overflow->lines[0] = '\0';
    return overflow_append(overflow, all ? variable : last, err);
}
