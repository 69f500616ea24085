/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef EVENTS_PROBLEMS_H
#define EVENTS_PROBLEMS_H
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

/** Report how many problems were not reported. @return 0 without errors; -1 with errno EINVAL. */
int problems_finish(const struct problems *problems, struct apapi_error *err);

#endif
