/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/files.h"
#include "events/definition.h"
#include "events/entries.h"
#include "events/fields.h"
#include "events/pattern.h"

struct apapi_eventops {
    struct event_entries entries; /* struct apapi_definition */
};

static int parse_line(struct problems *problems, const struct event_line *line, void *definition)
{
    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text,
                       "expected a definition of at most %d bytes, found %zu bytes",
                       APAPI_EVENTS_LINE_MAX, strlen(line->text));
        return -1;
    }
    return event_fields_parse(problems, line, definition);
}

static struct apapi_eventops *eventops_create(char *text, struct problems *problems,
                                              struct apapi_error *err)
{
    return event_entries_create(text, sizeof(struct apapi_definition), parse_line, problems, err);
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
    return eventops ? eventops->entries.count : 0;
}

const struct apapi_definition *apapi_eventops_at(const struct apapi_eventops *eventops,
                                                 size_t index)
{
    const struct apapi_definition *list = eventops ? eventops->entries.list : NULL;

    return index < apapi_eventops_count(eventops) ? &list[index] : NULL;
}

const struct apapi_definition *apapi_eventops_find(const struct apapi_eventops *eventops,
                                                   const char *event)
{
    const struct apapi_definition *definition;

    for (size_t i = 0; (definition = apapi_eventops_at(eventops, i)); i++) {
        if (apapi_pattern_matches(definition->name, event)) {
            return definition;
        }
    }
    return NULL;
}

void apapi_eventops_destroy(struct apapi_eventops *eventops)
{
    event_entries_destroy(eventops ? &eventops->entries : NULL);
}
