/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H
#include <stddef.h>

#include "apapi/error.h"
#include "base/lines.h"

/*
 * Text of the form
 *
 *   # a comment, also after a blank at the end of a line
 *   key = value
 *   [section]
 *   key = "a value with # and blanks at its ends "
 */

/** Iterates over the lines of a text. */
struct ini {
    struct event_lines lines;
    const char *section;
};

/** One `key = value`. Its texts are valid as long as the text given to ini_of(). */
struct ini_line {
    size_t number;       /* from 1 */
    const char *section; /* "": before the first section */
    const char *key;     /* never "" */
    const char *value;
};

enum ini_result {
    INI_END,
    INI_LINE,
    INI_BAD /* `err` says what is wrong in line line->number; the iteration can continue */
};

/** Begin. The text is modified. */
struct ini ini_of(char *text);

/** Go to the next line that is not blank, a comment or a valid section name. */
enum ini_result ini_next(struct ini *ini, struct ini_line *line, struct apapi_error *err);

#endif
