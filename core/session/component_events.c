/* SPDX-License-Identifier: BSD-3-Clause */
/* What a component measures: the events chosen from those of its source, each by its definition. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "events/selection.h"
#include "session/component_parts.h"

static int component_events_no_memory(struct component *component)
{
    return apapi_fail(&component->reason, ENOMEM, "no memory");
}

/* The user's list names something that is not there. */
static int refuse_unmatched(struct component *component, const struct apapi_selection *selection)
{
    const struct apapi_listed *first = selection->unmatched[0];
    struct nearest nearest;
    char meant[96];

    nearest_begin(&nearest, first->name);
    for (size_t i = 0; i < component->reader->count; i++) {
        nearest_offer(component->reader->events[i].name, &nearest);
    }
    nearest_text(&nearest, meant, sizeof meant);
    if (!*meant) {
        snprintf(meant, sizeof meant, "; 'apapi list %s' shows all", component->name);
    }
    return apapi_fail(&component->reason, ENOENT, "%s: %s has no event '%.80s' here%s%s",
                      apapi_listed_place(first).text, component->name, first->name,
                      selection->unmatched_count > 1 ? ", nor others of the list" : "", meant);
}

static int take_events(struct component *component, const struct apapi_selection *selection)
{
    size_t room = selection->count + component->reader->count + 1;

    component->events = calloc(room, sizeof *component->events);
    component->slots = calloc(room, sizeof *component->slots);
    component->feeds = calloc(room, sizeof *component->feeds);
    component->definitions = calloc(room, sizeof(const struct apapi_definition *));
    if (!component->events || !component->slots || !component->feeds || !component->definitions) {
        return component_events_no_memory(component);
    }
    for (size_t i = 0; i < selection->count; i++) {
        component->slots[i] = selection->indices[i];
        component->events[i] = component->reader->events[selection->indices[i]];
    }
    component->event_count = component->meter_count = selection->count;
    component->user_rules = selection->choice == APAPI_CHOICE_USER;
    return 0;
}

int component_choose_events(struct component *component)
{
    const struct apapi_reader *reader = component->reader;
    struct apapi_selection selection;
    int result;

    if (apapi_event_rules_select(component->rules, component->name, reader->events, reader->count,
                                 &selection)) {
        return component_events_no_memory(component);
    }
    result = selection.unmatched_count && !component->softfail
                 ? refuse_unmatched(component, &selection)
                 : take_events(component, &selection);
    apapi_selection_clear(&selection);
    return result;
}

static bool has_percentiles(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;
}

static struct apapi_histogram *next_histogram(struct component *component)
{
    return &component->histograms[component->histogram_count++];
}

/* Behind the last reading lies that of an event which is there no more. */
static struct apapi_reading *create_raw(const struct apapi_reader *reader)
{
    struct apapi_reading *raw = calloc(reader->count + 1, sizeof *raw);

    if (raw) {
        raw[reader->count].error = ENODEV;
    }
    return raw;
}

static int component_events_allocate(struct component *component)
{
    size_t count = component->meter_count + 1;

    component->meters = calloc(count, sizeof *component->meters);
    component->readings = calloc(count, sizeof *component->readings);
    component->values = calloc(count, sizeof *component->values);
    component->raw = create_raw(component->reader);
    component->histograms = calloc(count + APAPI_DOMAINS, sizeof *component->histograms);
    return component->meters && component->readings && component->values && component->raw &&
                   component->histograms
               ? 0
               : component_events_no_memory(component);
}

/* A text that is too long is cut between two characters. */
static void component_events_copy_text(char *copy, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size) {
        length = size - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
}

static void want_value(struct apapi_value_result *wanted, const struct apapi_definition *definition,
                       const struct apapi_event *event, int value)
{
    wanted->shown = definition->values[value].stats;
    wanted->factor = apapi_definition_divisor(definition, event, value);
    component_events_copy_text(wanted->type, sizeof wanted->type, definition->values[value].type);
    component_events_copy_text(wanted->unit, sizeof wanted->unit,
                               apapi_definition_unit(definition, event, value));
}

static int define_event(struct component *component, size_t index)
{
    struct apapi_event *event = &component->events[index];
    const struct apapi_definition *definition = apapi_event_rules_define(component->rules, event);

    if (apapi_definition_check(definition, event, &component->reason) && !component->softfail) {
        return -1;
    }
    apapi_definition_complete(definition, event);
    component->definitions[index] = definition;
    component->user_rules |=
        component->rules && apapi_eventops_find(component->rules->user_ops, event->name);
    return 0;
}

static void create_meter(struct component *component, size_t index)
{
    const struct apapi_event *event = &component->events[index];
    const struct apapi_definition *definition = component->definitions[index];
    struct apapi_meter *meter = &component->meters[index];
    bool shown = index < component->event_count;

    apapi_meter_init(meter, event, component->interval_ns,
                     shown && has_percentiles(event) ? next_histogram(component) : NULL);
    meter->values.operation = definition->operation;
    meter->gauge.rectangle = definition->operation == APAPI_OP1_SAMPLE1_MUL_DIFF_TIME;
    want_value(&meter->wanted[0], definition, event, 0);
    want_value(&meter->wanted[1], definition, event, 1);
}

int component_define_events(struct component *component)
{
    for (size_t i = 0; i < component->event_count; i++) {
        if (define_event(component, i)) {
            return -1;
        }
    }
    return 0;
}

static uint64_t shorter(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/*
 * No counter may wrap unseen, whatever interval was asked for. What the user says of a counter that
 * its source does not know does not go below the floor.
 */
static void guard_interval(struct component *component)
{
    uint64_t users_ns = component->interval_ns, own_ns = UINT64_MAX;

    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_event known = component_accounted(component, component->slots[i]);

        if (known.kind == APAPI_KIND_COUNT) {
            users_ns = shorter(users_ns, apapi_event_guard_ns(&component->events[i]));
        } else {
            own_ns = shorter(own_ns, apapi_event_guard_ns(&known));
        }
    }
    users_ns = users_ns > component->floor_ns ? users_ns : component->floor_ns;
    component->interval_ns = shorter(users_ns, own_ns);
    if (component->interval_ns < APAPI_INTERVAL_MIN_NS) {
        component->interval_ns = APAPI_INTERVAL_MIN_NS;
    }
}

int component_create_meters(struct component *component)
{
    guard_interval(component);
    if (component_events_allocate(component)) {
        return -1;
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        create_meter(component, i);
    }
    return 0;
}

void component_create_domains(struct component *component)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        enum apapi_domain d = component->feeds[i];

        if (d != APAPI_DOMAIN_NONE && !component->domains[d].used) {
            apapi_domain_meter_init(&component->domains[d], component->origin_ns,
                                    component->interval_ns, next_histogram(component));
        }
    }
}

/* The same counter or gauge, whose values mean the same. */
static bool component_events_is_same(const struct apapi_event *a, const struct apapi_event *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->scale == b->scale &&
           a->accumulates == b->accumulates && a->range_max == b->range_max;
}

static size_t find_again(const struct component *component, size_t index,
                         const struct apapi_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        struct apapi_event event = reader->events[i];

        apapi_definition_complete(component->definitions[index], &event);
        if (component_events_is_same(&event, &component->events[index])) {
            return i;
        }
    }
    return reader->count;
}

static size_t find_all_again(struct component *component, const struct apapi_reader *reader)
{
    size_t found = 0;

    for (size_t i = 0; i < component->meter_count; i++) {
        component->slots[i] = find_again(component, i, reader);
        if (component->slots[i] < reader->count && !component->goes_on) {
            apapi_meter_reopened(&component->meters[i]);
        }
        found += component->slots[i] < reader->count;
    }
    return found;
}

int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err)
{
    struct apapi_reading *raw = create_raw(reader);

    if (!raw) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    free(component->raw);
    component->raw = raw;
    if (find_all_again(component, reader) == 0) {
        return apapi_fail(err, ENODEV, "%s: its events no longer exist", reader->detail);
    }
    component->reader = reader;
    component->reason.text[0] = '\0';
    snprintf(component->detail, sizeof component->detail, "%s", reader->detail);
    return 0;
}
