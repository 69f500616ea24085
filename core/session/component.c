/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/component.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/source_lock.h"
#include "sources/sources.h"

#define GRID_LATE_SHARE 8 /* a reading on the grid is not later than this part of it */
#define GRID_PATIENCE 10  /* so many of the grid's steps; then it is read whenever that is */

void component_begin(struct component *component, const char *name,
                     const struct component_settings *settings)
{
    memset(component, 0, sizeof *component);
    snprintf(component->name, sizeof component->name, "%s", name);
    component->clock = settings->clock ? settings->clock : session_clock_real();
    component->interval_ns = settings->interval_ns;
    component->floor_ns = settings->floor_ns;
    component->order = settings->order;
    component->rules = settings->rules;
    component->softfail = settings->softfail;
}

int component_adopt(struct component *component, struct apapi_reader *reader)
{
    component->reader = reader;
    if (component_choose_events(component) || component_define_events(component)) {
        component->event_count = component->meter_count = 0;
        return -1;
    }
    component_feed_domains(component);
    if (component_create_meters(component)) {
        component->event_count = component->meter_count = 0;
        return -1;
    }
    component_create_domains(component);
    component->source = apapi_route_source(component->name, reader);
    snprintf(component->detail, sizeof component->detail, "%s", reader->detail);
    return 0;
}

int component_attach(struct component *component, const char *name, struct apapi_reader *reader,
                     const struct component_settings *settings)
{
    component_begin(component, name, settings);
    return component_adopt(component, reader);
}

int component_open(struct component *component, const char *name,
                   const struct component_settings *settings)
{
    struct apapi_reader *reader;

    component_begin(component, name, settings);
    reader = apapi_route_open(name, settings->order, settings->interval_ns, &component->reason);
    if (!reader) {
        return errno == ENOMEM ? -1 : 0;
    }
    return component_adopt(component, reader);
}

/* 1: there is none. Only a counter's own range makes the interval shorter than the floor. */
static uint64_t grid_ns(const struct component *component)
{
    uint64_t floor_ns = component->floor_ns ? component->floor_ns : 1;

    return floor_ns < component->interval_ns ? floor_ns : component->interval_ns;
}

static uint64_t next_multiple(uint64_t ns, uint64_t grid_ns)
{
    return (ns + grid_ns - 1) / grid_ns * grid_ns;
}

/* The shortest update period that a source states of its counters of energy; 0: none does. */
static uint64_t component_update_ns(const struct component *component)
{
    uint64_t shortest_ns = 0;

    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_event *event = &component->events[i];
        bool counts = event->kind == APAPI_KIND_ENERGY && event->accumulates;

        if (counts && event->update_ns && (!shortest_ns || event->update_ns < shortest_ns)) {
            shortest_ns = event->update_ns;
        }
    }
    return shortest_ns;
}

static bool component_has_power(const struct component *component)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        if (component->events[i].kind == APAPI_KIND_POWER && !component->events[i].accumulates) {
            return true;
        }
    }
    return false;
}

void component_restart(struct component *component, uint64_t origin_ns)
{
    component->origin_ns = origin_ns;
    component->early_ns = 0;
    component->dithers = component_has_power(component);
    probe_plan_restart(&component->probes, component_update_ns(component), component->interval_ns,
                       grid_ns(component), origin_ns);
    component->missed = 0;
    memset(&component->period, 0, sizeof component->period);
    memset(&component->retry, 0, sizeof component->retry);
    if (component->source) {
        component->reason.text[0] = '\0';
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        apapi_meter_restart(&component->meters[i]);
    }
    memset(component->known_ns, 0, sizeof component->known_ns);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used) {
            apapi_domain_meter_init(&component->domains[d], origin_ns, component->interval_ns,
                                    component->domains[d].rate.histogram);
        }
    }
}

bool component_is_relayed(const struct component *component)
{
    return component->reader && component->reader->source->relay;
}

struct apapi_moment component_fetch(struct component *component)
{
    struct apapi_moment when = {.begin_ns = session_clock_now_ns(component->clock)};

    if (component->reader) {
        component->reader->source->read(component->reader, component->raw);
    }
    when.end_ns = session_clock_now_ns(component->clock);
    if (component_is_relayed(component)) {
        component->reader->source->relay->when(component->reader, &when.begin_ns, &when.end_ns);
    }
    return when;
}

static const struct apapi_reading *reading_of(const struct component *component, size_t event)
{
    return &component->raw[component->slots[event]];
}

bool component_failed(const struct component *component)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        if (!reading_of(component, i)->error) {
            return false;
        }
    }
    return component->meter_count > 0;
}

void component_lose(struct component *component, int error)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        component->raw[component->slots[i]].error = error;
    }
}

/* The distance between two readings says nothing where it was chosen. */
static void update_retry(struct component *component, bool failed, uint64_t now_ns)
{
    if (!failed) {
        retry_good(&component->retry, now_ns);
        return;
    }
    retry_failed(&component->retry, component->interval_ns, now_ns);
    if (component->retry.pause_ns > component->interval_ns) {
        component->period.last_ns = 0;
    }
}

/* @param unknown  for each domain, whether a reading of one of its meters failed */
static void tick_domains(struct component *component, const bool unknown[APAPI_DOMAINS],
                         struct apapi_moment when)
{
    uint64_t now_ns = when.end_ns;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used) {
            component->domains[d].rate.blur_ns = when.end_ns - when.begin_ns;
            apapi_domain_meter_tick(&component->domains[d], now_ns);
        }
        if (component->known_ns[d] == 0 && !unknown[d]) {
            component->known_ns[d] = now_ns;
        }
    }
}

void component_account(struct component *component, struct apapi_moment when)
{
    uint64_t now_ns = when.end_ns;
    bool unknown[APAPI_DOMAINS] = {false};
    size_t failed = 0;

    component->read_ns = now_ns;
    apapi_period_add(&component->period, now_ns);
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_reading *reading = reading_of(component, i);
        struct apapi_meter *meter = &component->meters[i];
        double energy_j;
        enum apapi_meter_step step = apapi_meter_add(meter, reading, when, &energy_j);
        enum apapi_domain domain = component->feeds[i];

        failed += reading->error != 0;
        unknown[domain] |= reading->error != 0;
        if (domain != APAPI_DOMAIN_NONE) {
            apapi_domain_meter_widen(&component->domains[domain], meter->rate.window_ns);
            apapi_domain_meter_add(&component->domains[domain], step, energy_j);
        }
    }
    tick_domains(component, unknown, when);
    update_retry(component, failed > 0 && failed == component->meter_count, now_ns);
}

void component_read(struct component *component)
{
    component_account(component, component_fetch(component));
}

static uint64_t due_on_grid_ns(const struct component *component, uint64_t due_ns, uint64_t now_ns)
{
    uint64_t step_ns = grid_ns(component);
    bool late;

    due_ns = next_multiple(due_ns, step_ns);
    late = due_ns < now_ns && now_ns % step_ns > step_ns / GRID_LATE_SHARE;

    return late && now_ns - due_ns < GRID_PATIENCE * step_ns ? next_multiple(now_ns, step_ns)
                                                             : due_ns;
}

uint64_t component_due_ns(const struct component *component, uint64_t now_ns)
{
    return due_on_grid_ns(component, component->deadline_ns - component->early_ns, now_ns);
}

/* One reading in each interval, anywhere in it: no course of the power can be in step with them. */
static void component_dither(struct component *component, uint64_t now_ns)
{
    uint64_t left_ns = component->deadline_ns > now_ns ? component->deadline_ns - now_ns : 0;

    if (component->dithers && left_ns > 0) {
        left_ns = left_ns < component->interval_ns ? left_ns : component->interval_ns;
        component->early_ns = random_below(&component->probes.random, left_ns);
    }
}

void component_next_deadline(struct component *component, uint64_t now_ns)
{
    uint64_t pause_ns = component->retry.pause_ns;
    bool pauses = pause_ns > component->interval_ns;

    component->early_ns = 0;
    component->deadline_ns += pauses ? pause_ns : component->interval_ns;
    if (component_due_ns(component, component->deadline_ns) <= now_ns) {
        uint64_t passed = (now_ns - component->deadline_ns) / component->interval_ns + 1;

        component->missed += passed;
        component->deadline_ns += passed * component->interval_ns;
    }
    if (!pauses) {
        component_dither(component, now_ns);
    }
}

static bool component_probe_meters(struct component *component, struct apapi_moment when,
                                   enum probe_reading next)
{
    bool moved = true;

    for (size_t i = 0; i < component->meter_count; i++) {
        struct apapi_meter *meter = &component->meters[i];

        apapi_meter_probe(meter, reading_of(component, i), when, next != PROBE_FIRST);
        moved &= !apapi_meter_stands_still(meter);
    }
    return moved;
}

void component_begin_probes(struct component *component, struct apapi_moment when)
{
    component_probe_meters(component, when, PROBE_FIRST);
    probe_plan_begin(&component->probes, when);
}

uint64_t component_probe_due_ns(const struct component *component, uint64_t now_ns)
{
    uint64_t due_ns = component->probes.due_ns;

    return due_ns == UINT64_MAX ? due_ns : due_on_grid_ns(component, due_ns, now_ns);
}

void component_probe(struct component *component, struct apapi_moment when)
{
    bool moved = component_probe_meters(component, when, component->probes.next);

    probe_plan_next(&component->probes, when, moved);
}

/* Why it was not measured, or not to the end; "" if it was. */
static void component_describe_end(const struct component *component,
                                   struct apapi_component_result *result)
{
    int error = component->meter_count ? component->meters[0].last_error : 0;
    bool failing = component->retry.failures > 0;

    if (*component->reason.text) {
        snprintf(result->reason, sizeof result->reason, "%s", component->reason.text);
    } else if (failing || !result->measured) {
        snprintf(result->reason, sizeof result->reason, "%s: %s", component->detail,
                 error ? strerror(error) : "no event gave two readings");
    }
}

static void describe_outages(const struct component *component,
                             struct apapi_component_result *result)
{
    result->outages = component->retry.outages;
    result->outage_ns = retry_outage_ns(&component->retry);
}

uint64_t component_late_ns(const struct component *component, int domain, double energy_j)
{
    uint64_t late_ns;

    if (isnan(energy_j) || component->known_ns[domain] == 0) {
        return FEED_NEVER;
    }
    late_ns = component->known_ns[domain] - component->origin_ns;
    return late_ns > FEED_LATE_NS ? late_ns : 0;
}

/* The part of the time in which the meter should have been read, 0..1. */
static double coverage(const struct apapi_event_result *meter, const struct apapi_span *span)
{
    return fmin((double)meter->covered_ns / (double)(span->late_ns + span->elapsed_ns), 1);
}

static void finish_domain(const struct component *component, int domain,
                          const struct apapi_span *span,
                          const struct apapi_component_result *result,
                          struct apapi_domain_result *domain_result)
{
    struct apapi_domain_meter meter = component->domains[domain];
    double covered = NAN, rest_j = 0;

    *domain_result = (struct apapi_domain_result){.measured = false};
    for (size_t i = 0; i < component->meter_count; i++) {
        if ((int)component->feeds[i] == domain) {
            double share = coverage(&result->events[i], span);

            apapi_domain_result_add(domain_result, &result->events[i]);
            covered = fmin(covered, share);
            rest_j += result->events[i].total * (1 / share - 1);
        }
    }
    apapi_domain_meter_finish(&meter, span->elapsed_ns, domain_result);
    if (domain_result->measured) {
        domain_result->covered = covered;
        domain_result->rest_j = rest_j;
    }
}

static void finish_events(const struct component *component, const struct apapi_span *span,
                          struct apapi_component_result *result)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        struct apapi_event_result *event = &result->events[i];

        apapi_meter_finish(&component->meters[i], span, event);
        result->measured |= event->covered_ns > 0;
    }
}

/* Of the time in which each of its meters should have been read. */
static double least_coverage(const struct component *component, const struct apapi_span *span,
                             const struct apapi_component_result *result, double least)
{
    for (size_t i = 0; result->measured && i < component->meter_count; i++) {
        least = fmin(least, coverage(&result->events[i], span));
    }
    return least;
}

static void finish_domains(const struct component *component, size_t index,
                           const struct apapi_span *span,
                           const struct apapi_component_result *result,
                           struct domain_results *domains)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct apapi_domain_result own;
        uint64_t late_ns;

        if (!component->domains[d].used) {
            continue;
        }
        finish_domain(component, d, span, result, &own);
        late_ns = component_late_ns(component, d, own.energy_j);
        if (!domains->fill) {
            own.rest_j = NAN;
        }
        if (own.measured && feed_offer(&domains->feeds[d], index, late_ns)) {
            domains->results[d] = own;
        }
        domains->unknown |= (uint32_t)!own.measured << d;
    }
}

int component_finish(const struct component *component, size_t index, const struct apapi_span *span,
                     struct apapi_component_result *result, struct domain_results *domains)
{
    memset(result, 0, sizeof *result);
    strcpy(result->name, component->name);
    result->interval_ns = component->interval_ns;
    result->missed = component->missed;
    result->period = apapi_period_result(&component->period);
    if (!component->source) {
        snprintf(result->reason, sizeof result->reason, "%s", component->reason.text);
        return 0;
    }
    result->events = calloc(component->meter_count + 1, sizeof *result->events);
    if (!result->events) {
        return -1;
    }
    result->event_count = component->event_count; /* those that feed a domain lie behind */
    result->user_rules = component->user_rules;
    snprintf(result->source, sizeof result->source, "%s", component->detail);
    finish_events(component, span, result);
    finish_domains(component, index, span, result, domains);
    domains->covered = least_coverage(component, span, result, domains->covered);
    if (result->measured) {
        describe_outages(component, result);
    }
    component_describe_end(component, result);
    return 0;
}

void component_close(struct component *component)
{
    int saved = errno;

    if (component->reader) {
        source_close(component->reader);
    }
    free(component->meters);
    free(component->raw);
    free(component->readings);
    free(component->events);
    free(component->slots);
    free(component->feeds);
    free(component->definitions);
    free(component->values);
    free(component->histograms);
    memset(component, 0, sizeof *component);
    errno = saved;
}
