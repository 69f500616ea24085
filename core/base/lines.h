/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_LINES_H
#define APAPI_BASE_LINES_H
#include <stdbool.h>
#include <stddef.h>

/** A line with content. */
struct event_line {
    size_t number;     /* from 1 */
    const char *start; /* its beginning in the text */
    char *text;        /* trimmed; never empty */
};

/** Iterates over the lines of a text. */
struct event_lines {
    char *rest; /* NULL at the end */
    size_t number;
};

/** The characters that are blank within a line. */
#define LINES_BLANKS " \t\r\f\v"

/** @return the trimmed text; blanks after it are overwritten. */
char *event_text_trim(char *text);

/** Begin to iterate. The text is modified: each line becomes a string. */
struct event_lines event_lines_of(char *text);

/** Go to the next line that is neither blank nor a comment. @return whether there is one. */
bool event_lines_next(struct event_lines *lines, struct event_line *line);

/**
 * @return the number of the character at `position` in its line, from 1. Counts UTF-8 characters.
 */
size_t event_line_column(const struct event_line *line, const char *position);

#endif
