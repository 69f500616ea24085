/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "config/event_files.h"

/* --- problems ------------------------------------------------------------------------------- */

#define QUOTED_BYTES 40

struct quote quote(const char *text)
{
    char clean[QUOTED_BYTES + 1];
    struct quote quote;

    text_clean(clean, sizeof clean, text);
    snprintf(quote.text, sizeof quote.text, "'%s'%s", clean,
             strlen(text) > QUOTED_BYTES ? "..." : "");
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

/* Report how many problems were not reported. @return 0: no errors; -1 with errno EINVAL. */
static int problems_finish(const struct problems *problems, struct apapi_error *err)
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

/* --- entries -------------------------------------------------------------------------------- */

void *event_entries_create(const struct event_form *form, const char *file, char *text,
                           const struct apapi_problem_sink *sink, struct apapi_error *err)
{
    size_t name_size = strlen(file) + 1;
    struct event_entries *entries = text ? calloc(1, sizeof *entries + name_size) : NULL;
    struct problems problems = {.sink = sink};
    struct event_lines lines;
    struct event_line line;
    int result = 0;

    if (!entries) {
        if (text) {
            apapi_fail(err, ENOMEM, "no memory");
            free(text);
        }
        return NULL;
    }
    entries->text = text;
    entries->file = problems.file = memcpy(entries + 1, file, name_size);
    lines = event_lines_of(text);
    while (result == 0 && event_lines_next(&lines, &line)) {
        result = array_add(&entries->list, entries->count, &entries->room, form->size);
        if (result == 0 && form->parse(&problems, &line,
                                       (char *)entries->list + entries->count * form->size) == 0) {
            entries->count++;
        }
    }
    if (result ? apapi_fail(err, ENOMEM, "no memory") : problems_finish(&problems, err)) {
        event_entries_destroy(entries);
        return NULL;
    }
    return entries;
}

void event_entries_destroy(struct event_entries *entries)
{
    int saved = errno;

    if (entries) {
        free(entries->list);
        free(entries->text);
        free(entries);
    }
    errno = saved;
}
