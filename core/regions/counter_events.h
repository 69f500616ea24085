/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_COUNTER_EVENTS_H
#define REGIONS_COUNTER_EVENTS_H
#include <stdbool.h>
#include <stddef.h>

#include "regions/papi_calls.h"

#define COUNTER_EVENTS_MAX 32
#define COUNTER_NAME_SIZE 128 /* PAPI's */

/** An event as a program asks for it. */
struct counter_event {
    char name[COUNTER_NAME_SIZE];
    bool instant; /* the value at the end of a region, not the difference to its begin */
    int code;     /* PAPI's; set by counter_events_check() */
    int component;
};

/** Events, grouped by component in the order in which the components were first named. */
struct counter_events {
    struct counter_event events[COUNTER_EVENTS_MAX];
    size_t count;
};

/**
 * Read a list as in PAPI_EVENTS: names, divided by commas, each with "=instant" or "=delta" where
 * the program says so; blanks do not count. Of events without such a word those of nvml, and those
 * with "power" or "temperature" in their name, are instant, as in PAPI's high-level interface,
 * except for nvml's energy counter.
 * @return how many more there were than COUNTER_EVENTS_MAX, or whose name is too long
 */
size_t counter_events_parse(struct counter_events *list, const char *text);

/** PAPI's default events and, for those that do not exist, their substitutes. */
void counter_events_default(struct counter_events *list, const struct papi_calls *papi);

/** @return whether PAPI needs a component for these events (struct counter_events, or NULL). */
bool counter_events_need(const char *component, const void *list);

/**
 * Keep the events that exist and can be counted together, and group them by component.
 * @param multiplex  PAPI counts events of the CPU in turns
 * @param verbose    say on standard output which ones are left out, and why
 */
void counter_events_check(struct counter_events *list, const struct papi_calls *papi,
                          bool multiplex, bool verbose);

/**
 * Create a set of a component's events, those from `first` on.
 * @return the set; PAPI_CALLS_NO_SET if not all can be counted
 */
int counter_events_set(const struct counter_events *list, size_t first, size_t count,
                       const struct papi_calls *papi, bool multiplex);

/** Put the name of an event's component. */
void counter_events_component(const struct counter_event *event, char name[COUNTER_NAME_SIZE]);

/** @return the number of events from `first` on that have the same component. */
size_t counter_events_same(const struct counter_events *list, size_t first);

#endif
