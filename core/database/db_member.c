/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_member.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

static const char *db_member_skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')) {
        at++;
    }
    return at;
}

/* `at` is after the opening quote. @return the position after the closing quote */
static const char *skip_text(const char *at, const char *end)
{
    while (at < end && *at != '"') {
        at += *at == '\\' ? 2 : 1;
    }
    return at < end ? at + 1 : end;
}

/* Bytes that skip_value() must handle. */
static const bool special[UCHAR_MAX + 1] = {
    ['"'] = true, ['{'] = true, ['['] = true, ['}'] = true, [']'] = true};

/* `at` is at an opening bracket. @return the position after the closing one */
static const char *skip_value(const char *at, const char *end)
{
    int depth = 0;

    while (at < end) {
        char byte = *at++;

        if (byte == '"') {
            at = skip_text(at, end);
        } else if (byte == '{' || byte == '[') {
            depth++;
        } else if ((byte == '}' || byte == ']') && --depth == 0) {
            break;
        }
        while (at < end && !special[(unsigned char)*at]) {
            at++;
        }
    }
    return at;
}

/* `text` up to `at` is a key or a value. @return the start of the value if it is that key; NULL */
static const char *value_behind(const char *text, const char *at, const char *end, const char *key)
{
    size_t size = strlen(key);
    const char *value = db_member_skip_blanks(at, end);

    if ((size_t)(at - text) != size + 1 || memcmp(text, key, size) != 0 || value == end ||
        *value != ':') {
        return NULL;
    }
    return db_member_skip_blanks(value + 1, end);
}

const char *json_member(const char *line, size_t size, const char *key, size_t *value_size)
{
    const char *end = line + size, *at = memchr(line, '{', size);

    for (at = at ? at + 1 : end; at < end;) {
        const char *text = at + 1, *value = NULL;

        if (*at == '{' || *at == '[') {
            at = skip_value(at, end);
        } else if (*at == '"') {
            at = skip_text(text, end);
            value = value_behind(text, at, end, key);
        } else {
            at++;
        }
        if (value) {
            *value_size = (size_t)(skip_value(value, end) - value);
            return value;
        }
    }
    return NULL;
}
