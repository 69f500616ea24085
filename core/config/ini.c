/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/ini.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char byte_order_mark[] = "\xef\xbb\xbf";
static const char blanks[] = " \t\r\f\v";

static char *ini_trim(char *text)
{
    size_t length;

    text += strspn(text, blanks);
    length = strlen(text);
    while (length > 0 && strchr(blanks, text[length - 1])) {
        length--;
    }
    text[length] = '\0';
    return text;
}

static bool ini_is_comment(const char *text)
{
    return *text == '#' || *text == ';';
}

/* Cut off a comment after a blank. */
static void ini_cut_comment(char *text)
{
    for (char *c = text; *c; c++) {
        if (ini_is_comment(c) && (c == text || strchr(blanks, c[-1]))) {
            *c = '\0';
            return;
        }
    }
}

struct ini ini_of(char *text)
{
    size_t mark = sizeof byte_order_mark - 1;
    bool marked = strncmp(text, byte_order_mark, mark) == 0;

    return (struct ini){.rest = marked ? text + mark : text, .section = ""};
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
    if (!end || *ini_trim(end + 1)) {
        return ini_bad(err, "']' is not the last character", text);
    }
    *end = '\0';
    name = ini_trim(text + 1);
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
    rest = end + 1 + strspn(end + 1, blanks);
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
    line->key = ini_trim(text);
    value = ini_trim(equals + 1);
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
        value = ini_trim(value);
    }
    line->value = value;
    return 0;
}

/* Cut off the next line. @return the trimmed line; NULL at the end. */
static char *ini_take(struct ini *ini)
{
    char *text = ini->rest, *end;

    if (!text || *text == '\0') {
        return NULL;
    }
    end = strchr(text, '\n');
    if (end) {
        *end = '\0';
    }
    ini->rest = end ? end + 1 : NULL;
    ini->number++;
    return ini_trim(text);
}

enum ini_result ini_next(struct ini *ini, struct ini_line *line, struct apapi_error *err)
{
    char *text;

    while ((text = ini_take(ini))) {
        if (*text == '\0' || ini_is_comment(text)) {
            continue;
        }
        *line = (struct ini_line){.number = ini->number, .section = ini->section};
        if (*text == '[') {
            if (ini_section(ini, text, err)) {
                return INI_BAD;
            }
            continue;
        }
        return ini_pair(text, line, err) ? INI_BAD : INI_LINE;
    }
    return INI_END;
}
