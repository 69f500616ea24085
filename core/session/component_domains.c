/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which meters feed the domains: all that the source has, by its own word and the site's. What
 * users' lists and definitions say of events decides what is shown, and nothing here.
 */
#include "session/component_parts.h"

static const struct apapi_definition *site_definition(const struct component *component,
                                                      const struct apapi_event *event)
{
    const struct apapi_event_rules site = {
        .default_ops = component->rules ? component->rules->default_ops : NULL};

    return apapi_event_rules_define(&site, event);
}

struct apapi_event component_accounted(const struct component *component, size_t index)
{
    struct apapi_event event = component->reader->events[index];

    apapi_definition_complete(site_definition(component, &event), &event);
    return event;
}

/* A counter of energy, a gauge of power. */
static bool component_domains_is_meter(const struct apapi_event *event, enum apapi_kind kind)
{
    return event->domain != APAPI_DOMAIN_NONE && event->kind == kind &&
           event->accumulates == (kind == APAPI_KIND_ENERGY);
}

/* Gauges of power feed a domain that has no counter of energy. */
static void choose_kinds(const struct component *component, enum apapi_kind kinds[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        kinds[d] = APAPI_KIND_POWER;
    }
    for (size_t i = 0; i < component->reader->count; i++) {
        const struct apapi_event event = component_accounted(component, i);

        if (component_domains_is_meter(&event, APAPI_KIND_ENERGY)) {
            kinds[event.domain] = APAPI_KIND_ENERGY;
        }
    }
}

static bool means_the_same(const struct apapi_event *a, const struct apapi_event *b)
{
    return a->kind == b->kind && a->domain == b->domain && a->accumulates == b->accumulates &&
           a->scale == b->scale && a->range_max == b->range_max && a->guard_j == b->guard_j;
}

/* @return the event that shows it as it is, or a further one that nobody sees. */
static size_t find_meter(struct component *component, size_t index, const struct apapi_event *event)
{
    size_t i;

    for (i = 0; i < component->event_count; i++) {
        if (component->slots[i] == index && means_the_same(&component->events[i], event)) {
            return i;
        }
    }
    i = component->meter_count++;
    component->events[i] = *event;
    component->slots[i] = index;
    component->definitions[i] = site_definition(component, &component->reader->events[index]);
    return i;
}

void component_feed_domains(struct component *component)
{
    enum apapi_kind kinds[APAPI_DOMAINS];

    choose_kinds(component, kinds);
    for (size_t i = 0; i < component->reader->count; i++) {
        const struct apapi_event event = component_accounted(component, i);

        if (component_domains_is_meter(&event, kinds[event.domain])) {
            component->feeds[find_meter(component, i, &event)] = event.domain;
        }
    }
}
