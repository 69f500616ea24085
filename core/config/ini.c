/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/ini.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

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

struct ini ini_of(char *text)
{
    return (struct ini){.lines = event_lines_of(text), .section = ""};
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

enum ini_result ini_next(struct ini *ini, struct ini_line *line, struct apapi_error *err)
{
    struct event_line found;

    while (event_lines_next(&ini->lines, &found)) {
        if (ini_is_comment(found.text)) {
            continue;
        }
        *line = (struct ini_line){.number = found.number, .section = ini->section};
        if (*found.text != '[') {
            return ini_pair(found.text, line, err) ? INI_BAD : INI_LINE;
        }
        if (ini_section(ini, found.text, err)) {
            return INI_BAD;
        }
    }
    return INI_END;
}
