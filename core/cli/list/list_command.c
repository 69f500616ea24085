/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi list: components, sources and events that can be measured here. */
#include "cli/list/list.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/grid.h"

struct list {
    bool json, names, updates;
    struct list_view view;
    struct wanted wanted;
    struct listed components[WANTED_MAX];
};

static const struct option_row options[] = {
    {0, "json", NULL, "for programs", TO_FLAG(struct list, json)},
    {0, "names", NULL, "only the names, one in a line: events of COMPONENTs, else components",
     TO_FLAG(struct list, names)},
    {0, "sources", NULL, "also show the sources that are tried for a component, in order",
     TO_FLAG(struct list, view.sources)},
    {0, "updates", NULL,
     "also measure how often each counter moves; takes up to a second for each\n"
     "component",
     TO_FLAG(struct list, updates)},
    {0}};

static const struct option_table table = {
    .program = "apapi list",
    .head = "usage: apapi list [OPTION]... [COMPONENT | COMPONENT:::EVENT]...\n"
            "Show the components that can be measured here, the source that reads each of them,\n"
            "and its events with their present values. COMPONENT may be a list as in rapl:nvml,\n"
            "EVENT a pattern as in 'rapl:::PACKAGE*'. Without arguments: all components; those\n"
            "that are slow to open, and those that only PAPI knows, by name only.\n",
    .foot =
        "APAPI_SOURCES sets the sources and their order, as in sysfs:papi.\n"
        "Exit status: 0 done, 1 a named component or event cannot be read here, 2 wrong usage.\n",
    .column = 17,
    .rows = options};

static enum listed_state first_state(const struct list *list, const char *component,
                                     const char *order)
{
    if (list->wanted.named) {
        return LISTED_OPEN;
    }
    if (!apapi_catalog_has_route(component)) {
        return LISTED_NAME;
    }
    return apapi_catalog_slow(component, order) ? LISTED_SLOW : LISTED_OPEN;
}

static double range_of(const struct apapi_event *event)
{
    if (event->range_max > 0) {
        return ((double)event->range_max + 1) * event->scale;
    }
    return event->guard_j > 0 ? event->guard_j : NAN;
}

static double width_of(const struct apapi_event *event)
{
    return event->accumulates && event->range_max > 0 ? ceil(log2((double)event->range_max + 1))
                                                      : NAN;
}

static double guard_of(const struct apapi_event *event)
{
    uint64_t guard_ns = event->accumulates ? apapi_event_guard_ns(event) : UINT64_MAX;

    return guard_ns == UINT64_MAX ? NAN : (double)guard_ns / 1e9;
}

static void fill_event(const struct apapi_reader *reader, size_t index,
                       const struct apapi_reading *reading, struct listed_event *listed)
{
    listed->event = reader->events[index];
    listed->slot = index;
    listed->range = range_of(&listed->event);
    listed->width = width_of(&listed->event);
    listed->guard_s = guard_of(&listed->event);
    listed->value = reading->error ? NAN : apapi_event_value(&listed->event, reading->raw);
    if (reading->error) {
        snprintf(listed->error, sizeof listed->error, "%s", strerror(reading->error));
    }
    apapi_catalog_describe(reader, index, listed->description, DESCRIPTION_SIZE);
}

static int list_command_read_events(struct listed *listed, struct apapi_error *err)
{
    struct apapi_reader *reader = listed->reader;
    struct apapi_reading *readings = calloc(reader->count + 1, sizeof *readings);

    listed->events = calloc(reader->count + 1, sizeof *listed->events);
    if (!readings || !listed->events) {
        free(readings);
        return apapi_fail(err, ENOMEM, "no memory");
    }
    apapi_catalog_read(reader, readings);
    for (size_t i = 0; i < reader->count; i++) {
        if (wanted_event(listed->wanted, &reader->events[i])) {
            fill_event(reader, i, &readings[i], &listed->events[listed->event_count++]);
        }
    }
    free(readings);
    return 0;
}

/* Refuse a pattern that matches no event. */
static int refuse_pattern(const struct listed *listed, struct apapi_error *err)
{
    const struct apapi_reader *reader = listed->reader;
    struct nearest nearest;
    char meant[160];

    nearest_begin(&nearest, listed->wanted->pattern);
    for (size_t i = 0; i < reader->count; i++) {
        nearest_offer(reader->events[i].name, &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    return *meant
               ? apapi_fail(err, ENOENT, "no event '%.60s' here%s", listed->wanted->pattern, meant)
               : apapi_fail(err, ENOENT, "no event '%.60s' here; 'apapi list %s' shows all",
                            listed->wanted->pattern, listed->wanted->name);
}

static int list_command_open_component(struct listed *listed, const char *order,
                                       struct apapi_error *err)
{
    listed->reader = apapi_catalog_open(listed->wanted->name, order, &listed->reason);
    if (!listed->reader) {
        listed->error = errno;
        listed->state = LISTED_UNREADABLE;
        return 0;
    }
    if (list_command_read_events(listed, err)) {
        return -1;
    }
    return listed->wanted->pattern && listed->event_count == 0 ? refuse_pattern(listed, err) : 0;
}

/* Also the events that are measured only where they are named. */
static void want_events(const struct wanted_component *wanted)
{
    char all[APAPI_NAME_SIZE];

    snprintf(all, sizeof all, "%s:::?*", wanted->name);
    apapi_catalog_want(wanted->pattern ? wanted->pattern : all);
}

static int list_command_open_all(struct list *list, const char *order, struct apapi_error *err)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        struct listed *listed = &list->components[i];

        listed->wanted = &list->wanted.components[i];
        listed->state = first_state(list, listed->wanted->name, order);
        if (listed->state == LISTED_OPEN) {
            apapi_catalog_want(listed->wanted->name);
            want_events(listed->wanted);
        }
    }
    for (size_t i = 0; i < list->wanted.count; i++) {
        struct listed *listed = &list->components[i];

        if (listed->state == LISTED_OPEN && list_command_open_component(listed, order, err)) {
            return -1;
        }
    }
    return 0;
}

static int list_command_look_at_all(const struct list *list, struct apapi_error *err)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        const struct listed *listed = &list->components[i];

        if (listed->state == LISTED_OPEN && list_look_at_updates(listed)) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return 0;
}

static void list_command_close_all(struct list *list)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        apapi_catalog_close(list->components[i].reader);
        free(list->components[i].events);
    }
}

static int all_named_are_open(const struct list *list)
{
    for (size_t i = 0; i < list->wanted.count; i++) {
        if (list->wanted.named && list->components[i].state != LISTED_OPEN) {
            return EXIT_FAILURE;
        }
    }
    return EXIT_SUCCESS;
}

static int list_command_print(const struct list *list)
{
    int (*form)(const struct listed *, size_t, const struct list_view *) =
        list->json    ? list_print_json
        : list->names ? list_print_names
                      : list_print_text;

    if (form(list->components, list->wanted.count, &list->view)) {
        return command_fail("list", "no memory");
    }
    return command_finish("list", all_named_are_open(list));
}

static int list_command_run(struct list *list, int count, char *const words[])
{
    const char *order = secure_getenv("APAPI_SOURCES");
    struct apapi_error err;
    int status;

    if (wanted_parse(count, words, &list->wanted, &err) ||
        (order && apapi_catalog_check_order(order, &err))) {
        return command_refuse("list", err.text);
    }
    if (list_command_open_all(list, order, &err) ||
        (list->updates && list_command_look_at_all(list, &err))) {
        status = command_fail("list", err.text);
    } else {
        list->view.width = terminal_width();
        list->view.events = list->wanted.named;
        status = list_command_print(list);
    }
    list_command_close_all(list);
    return status;
}

int list_command(int argc, char **argv)
{
    static struct list list;
    int status = command_options(&table, argc, argv, &list);

    return status >= 0 ? status : list_command_run(&list, argc - optind, argv + optind);
}
