/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_file.h"
#include "events/definition.h"
#include "events/fields.h"
#include "events/pattern.h"

struct apapi_eventops {
    char *text; /* the definitions point into it */
    size_t count, room;
    struct apapi_definition *definitions;
};

static int eventops_add(struct apapi_eventops *eventops, const struct apapi_definition *definition)
{
    if (array_add(&eventops->definitions, eventops->count, &eventops->room, sizeof *definition)) {
        return -1;
    }
    eventops->definitions[eventops->count++] = *definition;
    return 0;
}

static int parse_line(struct problems *problems, const struct event_line *line,
                      struct apapi_definition *definition)
{
    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text,
                       "expected a definition of at most %d bytes, found %zu bytes",
                       APAPI_EVENTS_LINE_MAX, strlen(line->text));
        return -1;
    }
    return event_fields_parse(problems, line, definition);
}

static int eventops_parse_lines(struct apapi_eventops *eventops, struct problems *problems,
                                struct apapi_error *err)
{
    struct event_lines lines = event_lines_of(eventops->text);
    struct event_line line;

    while (event_lines_next(&lines, &line)) {
        struct apapi_definition definition;

        if (parse_line(problems, &line, &definition) == 0 && eventops_add(eventops, &definition)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return problems_finish(problems, err);
}

/* Takes ownership of the text. */
static struct apapi_eventops *eventops_create(char *text, struct problems *problems,
                                              struct apapi_error *err)
{
    struct apapi_eventops *eventops = text ? calloc(1, sizeof *eventops) : NULL;

    if (!eventops) {
        if (text) {
            apapi_fail(err, ENOMEM, "no memory");
            free(text);
        }
        return NULL;
    }
    eventops->text = text;
    if (eventops_parse_lines(eventops, problems, err)) {
        apapi_eventops_destroy(eventops);
        return NULL;
    }
    return eventops;
}

struct apapi_eventops *apapi_eventops_read(const char *path, const struct apapi_problem_sink *sink,
                                           struct apapi_error *err)
{
    struct problems problems = {.file = path, .sink = sink};

    return eventops_create(event_text_read(path, err), &problems, err);
}

struct apapi_eventops *apapi_eventops_parse(const char *name, const char *text, size_t size,
                                            const struct apapi_problem_sink *sink,
                                            struct apapi_error *err)
{
    struct problems problems = {.file = name, .sink = sink};

    return eventops_create(event_text_copy(name, text, size, err), &problems, err);
}

size_t apapi_eventops_count(const struct apapi_eventops *eventops)
{
    return eventops ? eventops->count : 0;
}

const struct apapi_definition *apapi_eventops_at(const struct apapi_eventops *eventops,
                                                 size_t index)
{
    return index < apapi_eventops_count(eventops) ? &eventops->definitions[index] : NULL;
}

const struct apapi_definition *apapi_eventops_find(const struct apapi_eventops *eventops,
                                                   const char *event)
{
    for (size_t i = 0; i < apapi_eventops_count(eventops); i++) {
        if (apapi_pattern_matches(eventops->definitions[i].name, event)) {
            return &eventops->definitions[i];
        }
    }
    return NULL;
}

void apapi_eventops_destroy(struct apapi_eventops *eventops)
{
    int saved = errno;

    if (eventops) {
        free(eventops->definitions);
        free(eventops->text);
        free(eventops);
    }
    errno = saved;
}
