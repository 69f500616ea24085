/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_LINES_H
#define APAPI_BASE_LINES_H
#include <stdbool.h>
#include <stddef.h>

/** A line that says something. */
struct event_line {
    size_t number;     /* from 1 */
    const char *start; /* where it begins in the text */
    char *text;        /* without surrounding blanks; never empty */
};

/** A walk through the lines of a text. */
struct event_lines {
    char *rest; /* NULL at the end */
    size_t number;
};

/** Begin. The text is changed on the way: each line becomes a string of its own. */
struct event_lines event_lines_of(char *text);

/** Go to the next line that is neither blank nor a comment. @return whether there is one. */
bool event_lines_next(struct event_lines *lines, struct event_line *line);

/** @return which character of its line `position` points to, from 1; bytes that go on count 0. */
size_t event_line_column(const struct event_line *line, const char *position);

#endif
