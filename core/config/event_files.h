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

/** A text of the file, shortened and printable. */
struct quote {
    char text[64];
};

struct quote quote(const char *text);

/** Report a line that cannot be used. @param position  within the line */
void problems_error(struct problems *problems, const struct event_line *line, const char *position,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Report a line that is used, but is suspicious. @param position  within the line */
void problems_warn(struct problems *problems, const struct event_line *line, const char *position,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/** The elements of a file, one for each line with content. */
struct event_entries {
    char *text;       /* the text of the file, to which the elements point */
    const char *file; /* name of the file */
    size_t count, room;
    void *list;
};

/** How the lines of a kind of file are read. */
struct event_form {
    size_t size; /* size of an element [bytes] */
    /* Set an element from a line. @return 0; -1: the line is bad and was reported. */
    int (*parse)(struct problems *problems, const struct event_line *line, void *entry);
};

/**
 * Parse the text of a file; the text is freed with the elements, or on failure.
 * @param file  name of the file; copied
 * @param text  NULL: it could not be read; errno and `err` are set, and stay
 * @return a struct event_entries, for event_entries_destroy(); NULL with errno EINVAL, ENOMEM.
 */
void *event_entries_create(const struct event_form *form, const char *file, char *text,
                           const struct apapi_problem_sink *sink, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void event_entries_destroy(struct event_entries *entries);

#endif
