/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "events/entries.h"
#include "events/selection.h"

struct apapi_eventlist {
    struct event_entries entries; /* struct apapi_listed */
};

static const char *find_control(const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == '\x7f') {
            return text;
        }
    }
    return NULL;
}

static int parse_listed_name(struct problems *problems, const struct event_line *line, void *entry)
{
    const char *control = find_control(line->text);

    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text, "expected the name of an event, found %zu bytes",
                       strlen(line->text));
        return -1;
    }
    if (control) {
        problems_error(problems, line, control,
                       "expected the name of an event, found byte 0x%02x in %s",
                       (unsigned)(unsigned char)*control, quote(line->text).text);
        return -1;
    }
    if (strstr(line->text, ",APAPI_OP1_")) {
        problems_error(problems, line, line->text,
                       "expected the name of an event, found a definition (those belong into the "
                       "file that APAPI_EVENTOPS names): %s",
                       quote(line->text).text);
        return -1;
    }
    *(struct apapi_listed *)entry = (struct apapi_listed){line->text, problems->file, line->number};
    return 0;
}

static struct apapi_eventlist *eventlist_create(char *text, struct problems *problems,
                                                struct apapi_error *err)
{
    return event_entries_create(text, sizeof(struct apapi_listed), parse_listed_name, problems,
                                err);
}

struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                             const struct apapi_problem_sink *sink,
                                             struct apapi_error *err)
{
    struct problems problems = {.file = path, .sink = sink};

    return eventlist_create(event_text_read(path, err), &problems, err);
}

struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text, size_t size,
                                              const struct apapi_problem_sink *sink,
                                              struct apapi_error *err)
{
    struct problems problems = {.file = name, .sink = sink};

    return eventlist_create(event_text_copy(name, text, size, err), &problems, err);
}

size_t apapi_eventlist_count(const struct apapi_eventlist *list)
{
    return list ? list->entries.count : 0;
}

const struct apapi_listed *apapi_eventlist_at(const struct apapi_eventlist *list, size_t index)
{
    const struct apapi_listed *entries = list ? list->entries.list : NULL;

    return index < apapi_eventlist_count(list) ? &entries[index] : NULL;
}

bool apapi_listed_names(const struct apapi_listed *listed, const char *component)
{
    size_t length = strlen(component);

    return length > 0 && strncmp(listed->name, component, length) == 0 &&
           (listed->name[length] == '\0' || strchr(":*?[", listed->name[length]));
}

struct listed_place apapi_listed_place(const struct apapi_listed *listed)
{
    const size_t most = 80;
    size_t length = strlen(listed->file);
    const char *shown = listed->file + (length > most ? length - most : 0);
    struct listed_place place;

    while ((*shown & 0xc0) == 0x80) { /* not within a character */
        shown++;
    }
    snprintf(place.text, sizeof place.text, "%s%s:%zu", length > most ? "..." : "", shown,
             listed->line);
    return place;
}

void apapi_eventlist_destroy(struct apapi_eventlist *list)
{
    event_entries_destroy(list ? &list->entries : NULL);
}
