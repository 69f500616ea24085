/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/component.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/clock.h"
#include "sources/sources.h"

/* No counter may wrap unseen, whatever interval was asked for. */
static uint64_t guarded_interval(const struct apapi_reader *reader, uint64_t interval_ns)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];
        uint64_t guard_ns = apapi_counter_guard_ns(event, apapi_domain_max_w(event->domain));

        if (guard_ns < interval_ns) {
            interval_ns = guard_ns;
        }
    }
    return interval_ns > APAPI_INTERVAL_MIN_NS ? interval_ns : APAPI_INTERVAL_MIN_NS;
}

static int create_meters(struct component *component)
{
    size_t count = component->reader->count;

    component->meters = calloc(count, sizeof *component->meters);
    component->readings = calloc(count, sizeof *component->readings);
    if (!component->meters || !component->readings) {
        return apapi_fail(&component->reason, ENOMEM, "no memory");
    }
    for (size_t i = 0; i < count; i++) {
        apapi_meter_init(&component->meters[i], &component->reader->events[i],
                         component->interval_ns);
    }
    return 0;
}

int component_open(struct component *component, const char *name, const char *order,
                   uint64_t interval_ns)
{
    memset(component, 0, sizeof *component);
    snprintf(component->name, sizeof component->name, "%s", name);
    component->interval_ns = interval_ns;
    component->reader = apapi_route_open(name, order, &component->reason);
    if (!component->reader) {
        return errno == ENOMEM ? -1 : 0;
    }
    component->interval_ns = guarded_interval(component->reader, interval_ns);
    return create_meters(component);
}

static bool has_energy_counter(const struct apapi_reader *reader, enum apapi_domain domain)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        if (event->domain == domain && event->kind == APAPI_KIND_ENERGY && event->accumulates) {
            return true;
        }
    }
    return false;
}

static bool has_power_gauge(const struct apapi_reader *reader, enum apapi_domain domain)
{
    for (size_t i = 0; i < reader->count; i++) {
        const struct apapi_event *event = &reader->events[i];

        if (event->domain == domain && event->kind == APAPI_KIND_POWER && !event->accumulates) {
            return true;
        }
    }
    return false;
}

void component_claim_domains(struct component *component, bool taken[APAPI_DOMAINS])
{
    for (int d = APAPI_DOMAIN_NONE + 1; component->reader && d < APAPI_DOMAINS; d++) {
        bool energy = has_energy_counter(component->reader, (enum apapi_domain)d);
        bool power = !energy && has_power_gauge(component->reader, (enum apapi_domain)d);

        component->power_feeds[d] = power;
        if (!taken[d] && (energy || power)) {
            taken[d] = true;
            apapi_domain_meter_init(&component->domains[d], component->interval_ns);
        }
    }
}

void component_restart(struct component *component)
{
    component->missed = 0;
    for (size_t i = 0; component->reader && i < component->reader->count; i++) {
        apapi_meter_restart(&component->meters[i]);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used) {
            apapi_domain_meter_init(&component->domains[d], component->interval_ns);
        }
    }
}

/* The domain that this event's energy goes into, APAPI_DOMAIN_NONE if into none. */
static enum apapi_domain fed_domain(const struct component *component,
                                    const struct apapi_event *event)
{
    bool power = component->power_feeds[event->domain];
    bool feeds = component->domains[event->domain].used &&
                 (power ? event->kind == APAPI_KIND_POWER
                        : event->kind == APAPI_KIND_ENERGY && event->accumulates);

    return feeds ? event->domain : APAPI_DOMAIN_NONE;
}

void component_read(struct component *component)
{
    uint64_t now_ns;

    component->reader->source->read(component->reader, component->readings);
    now_ns = clock_monotonic_ns();
    component->read_ns = now_ns;
    for (size_t i = 0; i < component->reader->count; i++) {
        struct apapi_meter *meter = &component->meters[i];
        double energy_j;
        enum apapi_meter_step step =
            apapi_meter_add(meter, &component->readings[i], now_ns, &energy_j);
        enum apapi_domain domain = fed_domain(component, meter->event);

        if (domain != APAPI_DOMAIN_NONE) {
            apapi_domain_meter_add(&component->domains[domain], step, energy_j);
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used) {
            apapi_domain_meter_tick(&component->domains[d], now_ns);
        }
    }
}

void component_next_deadline(struct component *component, uint64_t now_ns)
{
    component->deadline_ns += component->interval_ns;
    if (component->deadline_ns <= now_ns) {
        uint64_t passed = (now_ns - component->deadline_ns) / component->interval_ns + 1;

        component->missed += passed;
        component->deadline_ns += passed * component->interval_ns;
    }
}

static void describe_failure(const struct component *component,
                             struct apapi_component_result *result)
{
    int error = component->reader->count ? component->meters[0].last_error : 0;

    result->measured = false;
    snprintf(result->reason, sizeof result->reason, "%s: %s", component->reader->detail,
             error ? strerror(error) : "no event gave two readings");
}

static void finish_events(const struct component *component, uint64_t elapsed_ns,
                          struct apapi_component_result *result,
                          struct apapi_domain_result domains[APAPI_DOMAINS])
{
    for (size_t i = 0; i < result->event_count; i++) {
        struct apapi_event_result *event = &result->events[i];
        enum apapi_domain domain = fed_domain(component, component->meters[i].event);

        apapi_meter_finish(&component->meters[i], elapsed_ns, event);
        result->measured |= event->covered_ns > 0;
        if (domain != APAPI_DOMAIN_NONE) {
            apapi_domain_result_add(&domains[domain], event);
        }
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used) {
            struct apapi_domain_meter domain = component->domains[d];

            apapi_domain_meter_finish(&domain, &domains[d]);
        }
    }
}

int component_finish(const struct component *component, uint64_t elapsed_ns,
                     struct apapi_component_result *result,
                     struct apapi_domain_result domains[APAPI_DOMAINS])
{
    memset(result, 0, sizeof *result);
    strcpy(result->name, component->name);
    result->interval_ns = component->interval_ns;
    result->missed = component->missed;
    if (!component->reader) {
        snprintf(result->reason, sizeof result->reason, "%s", component->reason.text);
        return 0;
    }
    result->events = calloc(component->reader->count, sizeof *result->events);
    if (!result->events) {
        return -1;
    }
    result->event_count = component->reader->count;
    snprintf(result->source, sizeof result->source, "%s", component->reader->detail);
    finish_events(component, elapsed_ns, result, domains);
    if (!result->measured) {
        describe_failure(component, result);
    }
    return 0;
}

void component_close(struct component *component)
{
    int saved = errno;

    if (component->reader) {
        component->reader->source->close(component->reader);
    }
    free(component->meters);
    free(component->readings);
    memset(component, 0, sizeof *component);
    errno = saved;
}
