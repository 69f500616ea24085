/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/counter_events.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"

#define CPU_COMPONENT 0 /* PAPI's perf_event */

struct default_event {
    const char *name;
    const char *substitutes[2];
};

static const struct default_event defaults[] = {
    {"perf::TASK-CLOCK", {NULL, NULL}},
    {"PAPI_TOT_INS", {NULL, NULL}},
    {"PAPI_TOT_CYC", {NULL, NULL}},
    {"PAPI_FP_INS", {"PAPI_VEC_SP", "PAPI_VEC_DP"}},
    {"PAPI_FP_OPS", {"PAPI_SP_OPS", "PAPI_DP_OPS"}},
};

static bool counter_events_is_instant(const char *name)
{
    if (strstr(name, "total_energy_consumption")) {
        return false;
    }
    return strstr(name, "nvml") || strstr(name, "power") || strstr(name, "temperature");
}

/* The word of an event's end, which is taken away. */
static void counter_events_take_type(struct counter_event *event)
{
    char *type = strrchr(event->name, '=');

    event->instant = counter_events_is_instant(event->name);
    if (type && (strcmp(type, "=instant") == 0 || strcmp(type, "=delta") == 0)) {
        *type = '\0';
        event->instant = type[1] == 'i';
    }
}

static size_t counter_events_copy(char *name, const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] != ' ' && text[i] != '\t') {
            if (used + 1 == COUNTER_NAME_SIZE) {
                return SIZE_MAX;
            }
            name[used++] = text[i];
        }
    }
    name[used] = '\0';
    return used;
}

size_t counter_events_parse(struct counter_events *list, const char *text)
{
    size_t refused = 0;

    list->count = 0;
    for (const char *word = text; *word; word += strspn(word, ",")) {
        size_t length = strcspn(word, ",");
        struct counter_event event = {.component = -1};
        size_t used = counter_events_copy(event.name, word, length);

        word += length;
        if (used == SIZE_MAX || (used > 0 && list->count == COUNTER_EVENTS_MAX)) {
            refused++;
        } else if (used > 0) {
            counter_events_take_type(&event);
            list->events[list->count++] = event;
        }
    }
    return refused;
}

static void counter_events_drop(const struct papi_calls *papi, int set)
{
    papi->cleanup_eventset(set);
    papi->destroy_eventset(&set);
}

static int counter_events_new_set(const struct papi_calls *papi, int component, bool multiplex)
{
    int set = PAPI_CALLS_NO_SET;

    if (papi->create_eventset(&set) != PAPI_CALLS_OK) {
        return PAPI_CALLS_NO_SET;
    }
    if (multiplex && component == CPU_COMPONENT &&
        papi->assign_eventset_component(set, component) == PAPI_CALLS_OK) {
        papi->set_multiplex(set);
    }
    return set;
}

static bool counter_events_look_up(struct counter_event *event, const struct papi_calls *papi)
{
    bool added;
    int set;

    if (papi->event_name_to_code(event->name, &event->code) != PAPI_CALLS_OK) {
        return false;
    }
    event->component = papi->get_event_component(event->code);
    set = counter_events_new_set(papi, event->component, false);
    if (set == PAPI_CALLS_NO_SET) {
        return false;
    }
    added = papi->add_event(set, event->code) == PAPI_CALLS_OK;
    counter_events_drop(papi, set);
    return added;
}

static bool counter_events_add(struct counter_events *list, const char *name,
                               const struct papi_calls *papi)
{
    struct counter_event event = {.component = -1};

    snprintf(event.name, sizeof event.name, "%s", name);
    if (!counter_events_look_up(&event, papi)) {
        return false;
    }
    list->events[list->count++] = event;
    return true;
}

static void counter_events_substitute(struct counter_events *list, const char *const names[2],
                                      const struct papi_calls *papi)
{
    for (int i = 0; i < 2; i++) {
        if (names[i] && counter_events_add(list, names[i], papi)) {
            return;
        }
    }
}

void counter_events_default(struct counter_events *list, const struct papi_calls *papi)
{
    list->count = 0;
    for (size_t i = 0; i < COUNT_OF(defaults); i++) {
        if (!counter_events_add(list, defaults[i].name, papi)) {
            counter_events_substitute(list, defaults[i].substitutes, papi);
        }
    }
}

bool counter_events_need(const char *component, const void *list)
{
    const struct counter_events *events = list;
    size_t length = strlen(component);

    if (strcmp(component, "perf_event") == 0) {
        return true;
    }
    for (size_t i = 0; events && i < events->count; i++) {
        const char *name = events->events[i].name;
        const char *end = strstr(name, ":::");

        if (end ? (size_t)(end - name) == length && strncmp(name, component, length) == 0
                : strstr(name, "unc_") && strcmp(component, "perf_event_uncore") == 0) {
            return true;
        }
    }
    return false;
}

void counter_events_component(const struct counter_event *event, char name[COUNTER_NAME_SIZE])
{
    const char *end = strstr(event->name, ":::");

    snprintf(name, COUNTER_NAME_SIZE, "%.*s", end ? (int)(end - event->name) : COUNTER_NAME_SIZE,
             end                                 ? event->name
             : event->component == CPU_COMPONENT ? "perf_event"
                                                 : "perf_event_uncore");
}

size_t counter_events_same(const struct counter_events *list, size_t first)
{
    size_t count = 0;

    while (first + count < list->count &&
           list->events[first + count].component == list->events[first].component) {
        count++;
    }
    return count;
}

int counter_events_set(const struct counter_events *list, size_t first, size_t count,
                       const struct papi_calls *papi, bool multiplex)
{
    int set = counter_events_new_set(papi, list->events[first].component, multiplex);

    for (size_t i = first; set != PAPI_CALLS_NO_SET && i < first + count; i++) {
        if (papi->add_event(set, list->events[i].code) != PAPI_CALLS_OK) {
            counter_events_drop(papi, set);
            set = PAPI_CALLS_NO_SET;
        }
    }
    return set;
}

/* The place behind the last event of the same component. */
static size_t counter_events_place(const struct counter_events *list, int component)
{
    size_t place = list->count;

    for (size_t i = 0; i < list->count; i++) {
        if (list->events[i].component == component) {
            place = i + 1;
        }
    }
    return place;
}

static void counter_events_insert(struct counter_events *list, size_t place,
                                  const struct counter_event *event)
{
    memmove(&list->events[place + 1], &list->events[place],
            (list->count - place) * sizeof *list->events);
    list->events[place] = *event;
    list->count++;
}

static void counter_events_remove(struct counter_events *list, size_t place)
{
    list->count--;
    memmove(&list->events[place], &list->events[place + 1],
            (list->count - place) * sizeof *list->events);
}

static bool counter_events_has(const struct counter_events *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->events[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* @return NULL, or why the event cannot be counted with those before it. */
static const char *counter_events_join(struct counter_events *kept, struct counter_event *event,
                                       const struct papi_calls *papi, bool multiplex)
{
    size_t place, first;
    int set;

    if (counter_events_has(kept, event->name)) {
        return "is named twice";
    }
    if (!counter_events_look_up(event, papi)) {
        return "does not exist or is not supported on this machine";
    }
    place = counter_events_place(kept, event->component);
    counter_events_insert(kept, place, event);
    for (first = place; first > 0 && kept->events[first - 1].component == event->component;) {
        first--;
    }
    set = counter_events_set(kept, first, place + 1 - first, papi, multiplex);
    if (set == PAPI_CALLS_NO_SET) {
        counter_events_remove(kept, place);
        return "cannot be counted together with those before it; PAPI_MULTIPLEX=1 may help";
    }
    counter_events_drop(papi, set);
    return NULL;
}

void counter_events_check(struct counter_events *list, const struct papi_calls *papi,
                          bool multiplex, bool verbose)
{
    struct counter_events kept = {.count = 0};

    for (size_t i = 0; i < list->count; i++) {
        const char *why = counter_events_join(&kept, &list->events[i], papi, multiplex);

        if (why && verbose) {
            printf("apapi: PAPI event %s %s\n", list->events[i].name, why);
        }
    }
    *list = kept;
}
