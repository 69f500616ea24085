/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/events.h"
#include "base/files.h"
#include "base/text.h"
#include "config/event_files.h"

/* --- the list ------------------------------------------------------------------------------- */

struct apapi_eventlist {
    struct event_entries entries; /* struct apapi_listed */
};

static int parse_listed_name(struct problems *problems, const struct event_line *line, void *entry)
{
    const char *control = line->text;

    while ((unsigned char)*control >= ' ' && *control != '\x7f') {
        control++;
    }

    if (strlen(line->text) > APAPI_EVENTS_LINE_MAX) {
        problems_error(problems, line, line->text, "expected the name of an event, found %zu bytes",
                       strlen(line->text));
        return -1;
    }
    if (*control) {
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

struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                             const struct apapi_problem_sink *sink,
                                             struct apapi_error *err)
{
    struct problems problems = {.file = path, .sink = sink};

    return event_entries_create(event_text_read(path, err), sizeof(struct apapi_listed),
                                parse_listed_name, &problems, err);
}

struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text, size_t size,
                                              const struct apapi_problem_sink *sink,
                                              struct apapi_error *err)
{
    struct problems problems = {.file = name, .sink = sink};

    return event_entries_create(event_text_copy(name, text, size, err), sizeof(struct apapi_listed),
                                parse_listed_name, &problems, err);
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

/* --- selection ------------------------------------------------------------------------------ */

/* A selection in progress from one list. */
struct choosing {
    const struct apapi_event *events;
    size_t count;
    bool *taken;
    bool spoken_of; /* the list mentions the component */
    struct apapi_selection selection;
};

static void choose_entry(struct choosing *choosing, const struct apapi_listed *listed,
                         const char *component)
{
    struct apapi_selection *selection = &choosing->selection;
    bool matched = false;

    for (size_t i = 0; i < choosing->count; i++) {
        if (apapi_pattern_matches(listed->name, choosing->events[i].name)) {
            if (!choosing->taken[i]) {
                choosing->taken[i] = true;
                selection->indices[selection->count++] = i;
            }
            matched = true;
        }
    }
    if (!matched && apapi_listed_names(listed, component)) {
        selection->unmatched[selection->unmatched_count++] = listed;
    }
    choosing->spoken_of |= matched || apapi_listed_names(listed, component);
}

/* @return 1: the list mentions the component, its choice is set; 0: it does not; -1: ENOMEM. */
static int select_choose(const struct apapi_eventlist *list, const char *component,
                         const struct apapi_event *events, size_t count,
                         struct apapi_selection *selection)
{
    struct choosing choosing = {.events = events, .count = count};
    size_t entries = apapi_eventlist_count(list);
    int result = 0;

    if (entries == 0) {
        return 0;
    }
    choosing.taken = calloc(count + 1, sizeof *choosing.taken);
    choosing.selection.indices = calloc(count + 1, sizeof *choosing.selection.indices);
    choosing.selection.unmatched = calloc(entries + 1, sizeof(const struct apapi_listed *));
    if (!choosing.taken || !choosing.selection.indices || !choosing.selection.unmatched) {
        result = -1;
    }
    for (size_t i = 0; result == 0 && i < entries; i++) {
        choose_entry(&choosing, apapi_eventlist_at(list, i), component);
    }
    if (choosing.spoken_of) {
        *selection = choosing.selection;
        choosing.selection = (struct apapi_selection){0};
        result = 1;
    }
    free(choosing.taken);
    apapi_selection_clear(&choosing.selection);
    return result;
}

static int select_choose_all(size_t count, struct apapi_selection *selection)
{
    struct apapi_selection all = {.choice = APAPI_CHOICE_ALL, .count = count};

    all.indices = calloc(count + 1, sizeof *all.indices);
    if (!all.indices) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        all.indices[i] = i;
    }
    *selection = all;
    return 0;
}

static int choose_default(const struct apapi_eventlist *list, const char *component,
                          const struct apapi_event *events, size_t count,
                          struct apapi_selection *selection)
{
    struct apapi_selection chosen = {0};
    int result = select_choose(list, component, events, count, &chosen);

    if (result < 0) {
        return -1;
    }
    if (chosen.count == 0) {
        apapi_selection_clear(&chosen);
        return select_choose_all(count, selection);
    }
    free(chosen.unmatched); /* the list is made for many machines: they are normal */
    chosen.unmatched = NULL;
    chosen.unmatched_count = 0;
    chosen.choice = APAPI_CHOICE_DEFAULT;
    *selection = chosen;
    return 0;
}

int apapi_event_rules_select(const struct apapi_event_rules *rules, const char *component,
                             const struct apapi_event *events, size_t count,
                             struct apapi_selection *selection)
{
    struct apapi_selection chosen = {0};
    int result = rules ? select_choose(rules->user_list, component, events, count, &chosen) : 0;

    if (result == 0) {
        result =
            choose_default(rules ? rules->default_list : NULL, component, events, count, selection);
    } else if (result > 0) {
        chosen.choice = APAPI_CHOICE_USER;
        *selection = chosen;
        result = 0;
    }
    if (result < 0) {
        errno = ENOMEM;
    }
    return result;
}

void apapi_selection_clear(struct apapi_selection *selection)
{
    int saved = errno;

    if (selection) {
        free(selection->indices);
        free(selection->unmatched);
        *selection = (struct apapi_selection){0};
    }
    errno = saved;
}

/* --- the environment ------------------------------------------------------------------------ */

/* Anything except a complete integer counts as unset, as in the original APAPI. */
static long integer_of(const char *variable)
{
    const char *text = secure_getenv(variable);
    char *end;
    long number;

    if (!text) {
        return 0;
    }
    errno = 0;
    number = strtol(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' ? number : 0;
}

static const char *path_of(const char *variable)
{
    const char *text = secure_getenv(variable);

    return text && *text ? text : NULL;
}

void apapi_environment_read(struct apapi_environment *environment)
{
    int saved = errno;

    *environment = (struct apapi_environment){
        .eventlist = path_of("APAPI_EVENTLIST"),
        .eventops = path_of("APAPI_EVENTOPS"),
        .components = secure_getenv("APAPI_CMPLIST"),
        .verbose = integer_of("APAPI_VERBOSE"),
        .softfail = integer_of("APAPI_SOFTFAIL") != 0,
    };
    errno = saved;
}
