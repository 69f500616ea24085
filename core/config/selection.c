/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const struct event_form list_form = {sizeof(struct apapi_listed), parse_listed_name};

struct apapi_eventlist *apapi_eventlist_read(const char *path,
                                             const struct apapi_problem_sink *sink,
                                             struct apapi_error *err)
{
    return event_entries_create(&list_form, path, event_text_read(path, err), sink, err);
}

struct apapi_eventlist *apapi_eventlist_parse(const char *name, const char *text, size_t size,
                                              const struct apapi_problem_sink *sink,
                                              struct apapi_error *err)
{
    return event_entries_create(&list_form, name, event_text_copy(name, text, size, err), sink,
                                err);
}

const struct apapi_listed *apapi_eventlist_at(const struct apapi_eventlist *list, size_t index)
{
    const struct apapi_listed *entries = list ? list->entries.list : NULL;

    return entries && index < list->entries.count ? &entries[index] : NULL;
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

    while ((*shown & 0xc0) == 0x80) { /* do not begin within a character */
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

/* The events of a component among which to choose. */
struct choosing {
    const char *component;
    const struct apapi_event *events;
    size_t count;
    bool *taken;
};

/* Choose the events that fit an entry. @return whether the entry speaks of the component. */
static bool choose_entry(const struct choosing *from, const struct apapi_listed *listed,
                         struct apapi_selection *selection)
{
    bool matched = false, named = apapi_listed_names(listed, from->component);

    for (size_t i = 0; i < from->count; i++) {
        if (apapi_pattern_matches(listed->name, from->events[i].name)) {
            if (!from->taken[i]) {
                from->taken[i] = true;
                selection->indices[selection->count++] = i;
            }
            matched = true;
        }
    }
    if (!matched && named) {
        selection->unmatched[selection->unmatched_count++] = listed;
    }
    return matched || named;
}

/* @return 1: the list speaks of the component; 0: it does not, and nothing is chosen; -1: ENOMEM */
static int choose(const struct choosing *from, const struct apapi_eventlist *list,
                  struct apapi_selection *selection)
{
    struct apapi_selection chosen = {0};
    size_t entries = list ? list->entries.count : 0;
    bool spoken_of = false;

    if (entries == 0) {
        return 0;
    }
    chosen.unmatched = calloc(entries, sizeof(const struct apapi_listed *));
    chosen.indices = calloc(from->count + 1, sizeof *chosen.indices);
    if (!chosen.unmatched || !chosen.indices) {
        apapi_selection_clear(&chosen);
        return -1;
    }
    memset(from->taken, 0, from->count * sizeof *from->taken);
    for (size_t i = 0; i < entries; i++) {
        spoken_of |= choose_entry(from, apapi_eventlist_at(list, i), &chosen);
    }
    if (!spoken_of) {
        apapi_selection_clear(&chosen);
        return 0;
    }
    *selection = chosen;
    return 1;
}

/* Like choose(), for the site's list: it is for many machines, so entries may have no events. */
static int choose_default(const struct choosing *from, const struct apapi_eventlist *list,
                          struct apapi_selection *selection)
{
    int result = choose(from, list, selection);

    if (result <= 0) {
        return result;
    }
    selection->choice = APAPI_CHOICE_DEFAULT;
    free(selection->unmatched);
    selection->unmatched = NULL;
    selection->unmatched_count = 0;
    if (selection->count == 0) {
        apapi_selection_clear(selection);
    }
    return selection->count > 0;
}

static int choose_all(size_t count, struct apapi_selection *selection)
{
    *selection = (struct apapi_selection){.choice = APAPI_CHOICE_ALL};
    selection->indices = calloc(count + 1, sizeof *selection->indices);
    for (; selection->indices && selection->count < count; selection->count++) {
        selection->indices[selection->count] = selection->count;
    }
    return selection->indices ? 1 : -1;
}

int apapi_event_rules_select(const struct apapi_event_rules *rules, const char *component,
                             const struct apapi_event *events, size_t count,
                             struct apapi_selection *selection)
{
    struct choosing from = {component, events, count, calloc(count + 1, sizeof(bool))};
    struct apapi_selection chosen = {0};
    int result = from.taken ? 0 : -1;

    if (result == 0 && rules) {
        result = choose(&from, rules->user_list, &chosen);
        chosen.choice = APAPI_CHOICE_USER;
    }
    if (result == 0 && rules) {
        result = choose_default(&from, rules->default_list, &chosen);
    }
    if (result == 0) {
        result = choose_all(count, &chosen);
    }
    free(from.taken);
    if (result < 0) {
        errno = ENOMEM;
        return -1;
    }
    *selection = chosen;
    return 0;
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

/* @return an integer; 0: unset or, as in the original APAPI, anything but a complete integer. */
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
