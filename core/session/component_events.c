/* SPDX-License-Identifier: BSD-3-Clause */
/* What a component measures: the events chosen from those of its source, each by its definition. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/component.h"

static int no_memory(struct component *component)
{
    return apapi_fail(&component->reason, ENOMEM, "no memory");
}

/* The user's list names something that is not there. */
static int refuse_unmatched(struct component *component, const struct apapi_selection *selection)
{
    const struct apapi_listed *first = selection->unmatched[0];

    return apapi_fail(&component->reason, ENOENT,
                      "event list, line %zu: %s has no event '%.100s' here%s", first->line,
                      component->name, first->name,
                      selection->unmatched_count > 1 ? ", nor others of the list" : "");
}

static int take_events(struct component *component, const struct apapi_selection *selection)
{
    component->events = calloc(selection->count + 1, sizeof *component->events);
    component->places = calloc(selection->count + 1, sizeof *component->places);
    component->definitions = calloc(selection->count + 1, sizeof(const struct apapi_definition *));
    if (!component->events || !component->places || !component->definitions) {
        return no_memory(component);
    }
    for (size_t i = 0; i < selection->count; i++) {
        component->places[i] = selection->indices[i];
        component->events[i] = component->reader->events[selection->indices[i]];
    }
    component->event_count = selection->count;
    return 0;
}

int component_choose_events(struct component *component, const struct component_settings *settings)
{
    const struct apapi_reader *reader = component->reader;
    struct apapi_selection selection;
    int result;

    component->rules = settings->rules;
    component->softfail = settings->softfail;
    if (apapi_event_rules_select(settings->rules, component->name, reader->events, reader->count,
                                 &selection)) {
        return no_memory(component);
    }
    result = selection.unmatched_count && !settings->softfail
                 ? refuse_unmatched(component, &selection)
                 : take_events(component, &selection);
    apapi_selection_clear(&selection);
    return result;
}

static bool has_percentiles(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;
}

struct apapi_histogram *component_next_histogram(struct component *component)
{
    return &component->histograms[component->histogram_count++];
}

static int allocate(struct component *component)
{
    size_t count = component->event_count + 1;

    component->meters = calloc(count, sizeof *component->meters);
    component->readings = calloc(count, sizeof *component->readings);
    component->values = calloc(count, sizeof *component->values);
    component->raw = calloc(component->reader->count + 1, sizeof *component->raw);
    component->histograms = calloc(count + APAPI_DOMAINS, sizeof *component->histograms);
    return component->meters && component->readings && component->values && component->raw &&
                   component->histograms
               ? 0
               : no_memory(component);
}

/* A text that is too long is cut between two characters. */
static void copy_text(char *copy, size_t size, const char *text)
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
    copy_text(wanted->type, sizeof wanted->type, definition->values[value].type);
    copy_text(wanted->unit, sizeof wanted->unit, apapi_definition_unit(definition, event, value));
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
    return 0;
}

static void create_meter(struct component *component, size_t index)
{
    const struct apapi_event *event = &component->events[index];
    const struct apapi_definition *definition = component->definitions[index];
    struct apapi_meter *meter = &component->meters[index];

    apapi_meter_init(meter, event, component->interval_ns,
                     has_percentiles(event) ? component_next_histogram(component) : NULL);
    meter->values.operation = definition->operation;
    meter->gauge.rectangle = definition->operation == APAPI_OP1_SAMPLE1_MUL_DIFF_TIME;
    want_value(&meter->wanted[0], definition, event, 0);
    want_value(&meter->wanted[1], definition, event, 1);
}

/* No counter may wrap unseen, whatever interval was asked for. */
static void guard_interval(struct component *component)
{
    uint64_t interval_ns = component->interval_ns;

    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_event *event = &component->events[i];
        uint64_t guard_ns = apapi_counter_guard_ns(event, apapi_domain_max_w(event->domain));

        interval_ns = guard_ns < interval_ns ? guard_ns : interval_ns;
    }
    component->interval_ns =
        interval_ns > APAPI_INTERVAL_MIN_NS ? interval_ns : APAPI_INTERVAL_MIN_NS;
}

int component_create_meters(struct component *component)
{
    for (size_t i = 0; i < component->event_count; i++) {
        if (define_event(component, i)) {
            return -1;
        }
    }
    guard_interval(component);
    if (allocate(component)) {
        return -1;
    }
    for (size_t i = 0; i < component->event_count; i++) {
        create_meter(component, i);
    }
    return 0;
}
