/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>

#include "events/pattern.h"
#include "events/selection.h"

/* A selection in progress from one list. */
struct choosing {
    const struct apapi_event *events;
    size_t count;
    bool *taken;
    bool spoken_of; /* the list mentions the component */
    struct apapi_selection selection;
};

static int choosing_init(struct choosing *choosing, size_t entries)
{
    struct apapi_selection *selection = &choosing->selection;

    choosing->taken = calloc(choosing->count + 1, sizeof *choosing->taken);
    selection->indices = calloc(choosing->count + 1, sizeof *selection->indices);
    selection->unmatched = calloc(entries + 1, sizeof(const struct apapi_listed *));
    return choosing->taken && selection->indices && selection->unmatched ? 0 : -1;
}

static void choosing_clear(struct choosing *choosing)
{
    free(choosing->taken);
    apapi_selection_clear(&choosing->selection);
}

static void select_take(struct choosing *choosing, size_t event)
{
    if (!choosing->taken[event]) {
        choosing->taken[event] = true;
        choosing->selection.indices[choosing->selection.count++] = event;
    }
}

static void choose_entry(struct choosing *choosing, const struct apapi_listed *listed,
                         const char *component)
{
    struct apapi_selection *selection = &choosing->selection;
    bool matched = false;

    for (size_t i = 0; i < choosing->count; i++) {
        if (apapi_pattern_matches(listed->name, choosing->events[i].name)) {
            select_take(choosing, i);
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
    if (choosing_init(&choosing, entries)) {
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
    choosing_clear(&choosing);
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

/* The default list is made for many machines: entries without an event are normal. */
static void forget_unmatched(struct apapi_selection *selection)
{
    free(selection->unmatched);
    selection->unmatched = NULL;
    selection->unmatched_count = 0;
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
    forget_unmatched(&chosen);
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
