/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_EVENT_FILES_H
#define APAPI_CONFIG_EVENT_FILES_H
#include <stddef.h>

#include "apapi/events.h"
#include "base/lines.h"

/** The problems of one file. */
struct problems {
    const char *file;
    const struct apapi_problem_sink *sink;
    size_t errors;
    size_t warnings;
    size_t bad_lines;
    size_t first_bad_line;
    size_t last_bad_line;
};

/** A part of the file, short and printable. */
struct quote {
    char text[64];
};

struct quote quote(const char *text);

/** Report that the line cannot be used. @param position  within the line */
void problems_error(struct problems *problems, const struct event_line *line, const char *position,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Report that the line can be used but is suspicious. */
void problems_warn(struct problems *problems, const struct event_line *line, const char *position,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/** The contents of a file's lines. */
struct event_entries {
    char *text;       /* the elements point into it */
    const char *file; /* its name */
    size_t count, room;
    void *list;
};

/** The elements of a kind of file. */
struct event_form {
    size_t size; /* of an element [bytes] */
    /* Set an element from a line. 0; -1: the line was reported. */
    int (*parse)(struct problems *problems, const struct event_line *line, void *entry);
};

/**
 * Parse the text of a file, which is freed with the elements.
 * @param file  its name; copied
 * @param text  NULL: errno and `err` say why
 * @return a struct event_entries, for event_entries_destroy(); NULL with errno EINVAL, ENOMEM.
 */
void *event_entries_create(const struct event_form *form, const char *file, char *text,
                           const struct apapi_problem_sink *sink, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void event_entries_destroy(struct event_entries *entries);

#endif
