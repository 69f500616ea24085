/* SPDX-License-Identifier: BSD-3-Clause */
#include "events/problems.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"

#define QUOTED_BYTES 40

/* Bytes of the beginning of the text, cut after a whole character. */
static size_t problems_cut(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);

    if (length <= most) {
        return length;
    }
    for (length = most; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;) {
        length--;
    }
    return length;
}

struct quote quote(const char *text)
{
    struct quote quote;
    size_t length = problems_cut(text, QUOTED_BYTES);

    snprintf(quote.text, sizeof quote.text, "'%.*s'%s", (int)length, text,
             text[length] ? "..." : "");
    event_text_make_printable(quote.text);
    return quote;
}

static void problems_report(const struct problems *problems, const struct apapi_problem *problem)
{
    if (problems->sink && problems->sink->report) {
        problems->sink->report(problem, problems->sink->context);
    }
}

__attribute__((format(printf, 3, 0))) static void report_format(const struct problems *problems,
                                                                struct apapi_problem problem,
                                                                const char *format, va_list args)
{
    char text[1024];
    int used = snprintf(text, sizeof text, "%.500s:%zu:%zu: %s", problems->file, problem.line,
                        problem.column, problem.warning ? "warning: " : "");

    vsnprintf(text + used, sizeof text - (size_t)used, format, args);
    problem.text = text;
    problems_report(problems, &problem);
}

void problems_error(struct problems *problems, const struct event_line *line, const char *position,
                    const char *format, ...)
{
    struct apapi_problem problem = {line->number, event_line_column(line, position), false, NULL};

    if (problems->last_bad_line != line->number) {
        problems->last_bad_line = line->number;
        problems->bad_lines++;
    }
    if (problems->first_bad_line == 0) {
        problems->first_bad_line = line->number;
    }
    if (problems->errors++ < APAPI_PROBLEMS_MAX) {
        va_list args;

        va_start(args, format);
        report_format(problems, problem, format, args);
        va_end(args);
    }
}

void problems_warn(struct problems *problems, const struct event_line *line, const char *position,
                   const char *format, ...)
{
    struct apapi_problem problem = {line->number, event_line_column(line, position), true, NULL};

    if (problems->warnings++ < APAPI_PROBLEMS_MAX) {
        va_list args;

        va_start(args, format);
        report_format(problems, problem, format, args);
        va_end(args);
    }
}

static void report_unlisted(const struct problems *problems, size_t found, bool warning)
{
    char text[1024];
    struct apapi_problem problem = {.warning = warning, .text = text};

    if (found > APAPI_PROBLEMS_MAX) {
        snprintf(text, sizeof text, "%.500s: ... and %zu more %s", problems->file,
                 found - APAPI_PROBLEMS_MAX, warning ? "warnings" : "errors");
        problems_report(problems, &problem);
    }
}

int problems_finish(const struct problems *problems, struct apapi_error *err)
{
    report_unlisted(problems, problems->errors, false);
    report_unlisted(problems, problems->warnings, true);
    if (problems->bad_lines == 0) {
        return 0;
    }
    if (problems->bad_lines == 1) {
        return apapi_fail(err, EINVAL, "%.200s: line %zu is bad", problems->file,
                          problems->first_bad_line);
    }
    return apapi_fail(err, EINVAL, "%.180s: %zu lines are bad, the first is line %zu",
                      problems->file, problems->bad_lines, problems->first_bad_line);
}
