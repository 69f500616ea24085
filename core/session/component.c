/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/component.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/text.h"
#include "config/selection.h"
#include "sources/sources.h"

#define GRID_LATE_SHARE 8 /* a reading is late after this part of a grid step */
#define GRID_PATIENCE 10  /* grid steps that a late reading waits; then it is made at once */

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

/* The events that are measured: chosen from those of the source, each by its definition. */

static int component_no_memory(struct component *component)
{
    return apapi_fail(&component->reason, ENOMEM, "no memory");
}

/* Fail with the reason that the user's list names events that are not there. */
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
        return component_no_memory(component);
    }
    for (size_t i = 0; i < selection->count; i++) {
        component->slots[i] = selection->indices[i];
        component->events[i] = component->reader->events[selection->indices[i]];
    }
    component->event_count = component->meter_count = selection->count;
    component->user_rules = selection->choice == APAPI_CHOICE_USER;
    return 0;
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

static int choose_events(struct component *component)
{
    const struct apapi_reader *reader = component->reader;
    struct apapi_selection selection;
    int result;

    if (apapi_event_rules_select(component->rules, component->name, reader->events, reader->count,
                                 &selection)) {
        return component_no_memory(component);
    }
    result = selection.unmatched_count && !component->softfail
                 ? refuse_unmatched(component, &selection)
                 : take_events(component, &selection);
    apapi_selection_clear(&selection);
    for (size_t i = 0; result == 0 && i < component->event_count; i++) {
        result = define_event(component, i);
    }
    return result;
}

/*
 * The meters that feed the domains: all that the source has, as the source and the site define
 * them. Users' lists and definitions decide which events are shown, but nothing here.
 */

static const struct apapi_definition *site_definition(const struct component *component,
                                                      const struct apapi_event *event)
{
    const struct apapi_event_rules site = {
        .default_ops = component->rules ? component->rules->default_ops : NULL};

    return apapi_event_rules_define(&site, event);
}

/* An event of the reader as its source and the site define it. */
static struct apapi_event component_accounted(const struct component *component, size_t index)
{
    struct apapi_event event = component->reader->events[index];

    apapi_definition_complete(site_definition(component, &event), &event);
    return event;
}

/* @return whether it is a domain's counter of energy, or gauge of power, as `kind` says. */
static bool is_meter_of(const struct apapi_event *event, enum apapi_kind kind)
{
    return event->domain != APAPI_DOMAIN_NONE && event->kind == kind &&
           event->accumulates == (kind == APAPI_KIND_ENERGY);
}

/* Choose the kind of meters for each domain: gauges of power if it has no counter of energy. */
static void choose_kinds(const struct component *component, enum apapi_kind kinds[APAPI_DOMAINS])
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        kinds[d] = APAPI_KIND_POWER;
    }
    for (size_t i = 0; i < component->reader->count; i++) {
        const struct apapi_event event = component_accounted(component, i);

        if (is_meter_of(&event, APAPI_KIND_ENERGY)) {
            kinds[event.domain] = APAPI_KIND_ENERGY;
        }
    }
}

static bool means_the_same(const struct apapi_event *a, const struct apapi_event *b)
{
    return a->kind == b->kind && a->domain == b->domain && a->accumulates == b->accumulates &&
           a->scale == b->scale && a->range_max == b->range_max && a->guard_j == b->guard_j;
}

/* @return the shown event that means the same, or else a new event that is not shown. */
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

static void feed_domains(struct component *component)
{
    enum apapi_kind kinds[APAPI_DOMAINS];

    choose_kinds(component, kinds);
    for (size_t i = 0; i < component->reader->count; i++) {
        const struct apapi_event event = component_accounted(component, i);

        if (is_meter_of(&event, kinds[event.domain])) {
            component->feeds[find_meter(component, i, &event)] = event.domain;
        }
    }
}

/* Room for the readings, and the meters. */

static struct apapi_histogram *next_histogram(struct component *component)
{
    return &component->histograms[component->histogram_count++];
}

/* Behind the last reading is one that failed with ENODEV, for events that are gone. */
static struct apapi_reading *create_raw(const struct apapi_reader *reader)
{
    struct apapi_reading *raw = calloc(reader->count + 1, sizeof *raw);

    if (raw) {
        raw[reader->count].error = ENODEV;
    }
    return raw;
}

static int allocate_meters(struct component *component)
{
    size_t count = component->meter_count + 1;

    component->meters = calloc(count, sizeof *component->meters);
    component->readings = calloc(count, sizeof *component->readings);
    component->values = calloc(count, sizeof *component->values);
    component->spans_ns = calloc(count, sizeof *component->spans_ns);
    component->raw = create_raw(component->reader);
    component->histograms = calloc(count + APAPI_DOMAINS, sizeof *component->histograms);
    return component->meters && component->readings && component->values && component->spans_ns &&
                   component->raw && component->histograms
               ? 0
               : component_no_memory(component);
}

static void want_value(struct apapi_value_result *wanted, const struct apapi_definition *definition,
                       const struct apapi_event *event, int value)
{
    wanted->shown = definition->values[value].stats;
    wanted->factor = apapi_definition_divisor(definition, event, value);
    text_utf8(wanted->type, sizeof wanted->type, definition->values[value].type);
    text_utf8(wanted->unit, sizeof wanted->unit, apapi_definition_unit(definition, event, value));
}

static void create_meter(struct component *component, size_t index)
{
    const struct apapi_event *event = &component->events[index];
    const struct apapi_definition *definition = component->definitions[index];
    struct apapi_meter *meter = &component->meters[index];
    bool shown = index < component->event_count;
    bool percentiles = event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;

    apapi_meter_init(meter, event, component->interval_ns,
                     shown && percentiles ? next_histogram(component) : NULL);
    meter->coarse = component->floor_ns > 0;
    meter->values.operation = definition->operation;
    meter->gauge.rectangle = definition->operation == APAPI_OP1_SAMPLE1_MUL_DIFF_TIME;
    want_value(&meter->wanted[0], definition, event, 0);
    want_value(&meter->wanted[1], definition, event, 1);
}

static uint64_t shorter(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/*
 * No counter may wrap unseen, whatever interval was asked for. The range that a user defines for a
 * counter whose kind the source does not know does not make the interval shorter than the floor.
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

static int create_meters(struct component *component)
{
    feed_domains(component);
    guard_interval(component);
    if (allocate_meters(component)) {
        return -1;
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        create_meter(component, i);
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        enum apapi_domain d = component->feeds[i];

        if (d != APAPI_DOMAIN_NONE && !component->domains[d].used) {
            apapi_domain_meter_init(&component->domains[d], component->origin_ns,
                                    component->interval_ns, next_histogram(component));
        }
    }
    return 0;
}

int component_adopt(struct component *component, struct apapi_reader *reader)
{
    component->reader = reader;
    if (choose_events(component) || create_meters(component)) {
        component->event_count = component->meter_count = 0;
        return -1;
    }
    component->source = apapi_route_source(component->name, reader);
    snprintf(component->detail, sizeof component->detail, "%s", reader->detail);
    return 0;
}

bool component_event_is_same(const struct apapi_event *a, const struct apapi_event *b)
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
        if (component_event_is_same(&event, &component->events[index])) {
            return i;
        }
    }
    return reader->count;
}

int component_rejoin(struct component *component, struct apapi_reader *reader,
                     struct apapi_error *err)
{
    struct apapi_reading *raw = create_raw(reader);
    size_t found = 0;

    if (!raw) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    free(component->raw);
    component->raw = raw;
    for (size_t i = 0; i < component->meter_count; i++) {
        bool again = (component->slots[i] = find_again(component, i, reader)) < reader->count;

        if (again && !component->goes_on) {
            component->meters[i].counter.reopened = true;
        }
        found += again;
    }
    if (found == 0) {
        return apapi_fail(err, ENODEV, "%s: its events no longer exist", reader->detail);
    }
    component->reader = reader;
    component->reason.text[0] = '\0';
    snprintf(component->detail, sizeof component->detail, "%s", reader->detail);
    return 0;
}

/* Readings. */

/* @return the grid's step [ns]; 1: none. Only a counter's own range makes it less than a floor. */
static uint64_t grid_ns(const struct component *component)
{
    uint64_t floor_ns = component->floor_ns ? component->floor_ns : 1;

    return floor_ns < component->interval_ns ? floor_ns : component->interval_ns;
}

/*
 * @return the shortest known update period of the counters of energy [ns]; 0: none
 * @param stated  result: whether the source states the period of each of them
 */
static uint64_t component_update_ns(const struct component *component, bool *stated)
{
    uint64_t shortest_ns = 0;

    *stated = true;
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_event *event = &component->events[i];
        uint64_t update_ns = component->meters[i].counter.update.period_ns;

        if (event->kind == APAPI_KIND_ENERGY && event->accumulates) {
            *stated &= event->update_ns > 0;
            shortest_ns = !shortest_ns || update_ns < shortest_ns ? update_ns : shortest_ns;
        }
    }
    return shortest_ns;
}

void component_restart(struct component *component, uint64_t origin_ns)
{
    uint64_t update_ns;
    bool stated;

    component->origin_ns = origin_ns;
    component->early_ns = component->check_ns = 0;
    component->dithers = false;
    component->dense.due_ns = UINT64_MAX;
    component->missed = 0;
    component->judged_ns = 0;
    memset(&component->period, 0, sizeof component->period);
    memset(&component->retry, 0, sizeof component->retry);
    if (component->source) {
        component->reason.text[0] = '\0';
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_event *event = &component->events[i];

        apapi_meter_restart(&component->meters[i]);
        component->dithers |= event->kind == APAPI_KIND_POWER && !event->accumulates;
    }
    update_ns = component_update_ns(component, &stated);
    component->probes.random = (struct random){origin_ns};
    probe_plan_restart(&component->probes, update_ns, stated, component->interval_ns,
                       grid_ns(component));
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

/* The distance between two readings is no sample of the period if a pause made it longer. */
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

void component_account_dense(struct component *component, struct apapi_moment when)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        apapi_meter_add(&component->meters[i], reading_of(component, i), when, NULL);
    }
    component->read_ns = when.end_ns;
    update_retry(component, false, when.end_ns);
    dense_start_next(&component->dense, when,
                     component->dithers ? &component->probes.random : NULL);
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
            apapi_domain_meter_note(&component->domains[domain], &meter->rate);
            apapi_domain_meter_add(&component->domains[domain], step, energy_j);
        }
    }
    tick_domains(component, unknown, when);
    update_retry(component, failed > 0 && failed == component->meter_count, now_ns);
}

/* The time of the next reading. */

static uint64_t next_multiple(uint64_t ns, uint64_t grid_ns)
{
    return (ns + grid_ns - 1) / grid_ns * grid_ns;
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

/*
 * Read at a random moment in each interval, but not nearer to the reading before than a step of the
 * grid: so no periodic power can be in step with the readings.
 */
static void component_dither(struct component *component, uint64_t now_ns)
{
    uint64_t left_ns = component->deadline_ns > now_ns ? component->deadline_ns - now_ns : 0;
    uint64_t apart_ns = grid_ns(component) - grid_ns(component) / GRID_LATE_SHARE;
    uint64_t most_ns = left_ns > apart_ns ? left_ns - apart_ns : 0;

    if (component->dithers && left_ns > 0) {
        left_ns = left_ns < component->interval_ns ? left_ns : component->interval_ns;
        component->early_ns = random_below(&component->probes.random, left_ns);
        component->early_ns = component->early_ns < most_ns ? component->early_ns : most_ns;
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
        moved &=
            !meter->probe.open; /* a probe whose second reading shows the same value stays open */
    }
    return moved;
}

#define DENSE_LEAST_NS UINT64_C(1000000)
#define DENSE_RELAYED_NS UINT64_C(4000000) /* the node sampler serves many steps */

/* @return whether all meters have begun: at a shown reading, as thresholds and the page do. */
static bool all_are_known(const struct component *component)
{
    bool known = true;

    for (size_t i = 0; i < component->meter_count; i++) {
        known &= component->meters[i].known_ns != 0;
    }
    return known;
}

void component_begin_early(struct component *component, struct apapi_moment when)
{
    uint64_t least_ns = component_is_relayed(component) ? DENSE_RELAYED_NS : DENSE_LEAST_NS;

    component_probe_meters(component, when, PROBE_FIRST);
    probe_plan_begin(&component->probes, when);
    component->dense = (struct dense_start){.first_ns = when.end_ns,
                                            .interval_ns = component->interval_ns,
                                            .after_ns = least_ns / 2,
                                            .due_ns = UINT64_MAX};
    if (all_are_known(component)) {
        dense_start_next(&component->dense, when,
                         component->dithers ? &component->probes.random : NULL);
    }
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

/* The end of a run. */

#define CHECK_LEAST 32 /* a run of so many waits is checked at its end; others stay rough */

void component_plan_check(struct component *component, struct apapi_moment when)
{
    uint64_t after_ns = 0;

    for (size_t i = 0; i < component->meter_count; i++) {
        uint64_t own_ns = apapi_meter_check_ns(&component->meters[i]);

        after_ns = own_ns > after_ns ? own_ns : after_ns;
    }
    component->check_ns =
        after_ns && component->read_ns - component->origin_ns >= CHECK_LEAST * after_ns
            ? when.end_ns + after_ns
            : 0;
}

void component_check(struct component *component, struct apapi_moment when)
{
    bool again = false;

    for (size_t i = 0; i < component->meter_count; i++) {
        again |= apapi_meter_check(&component->meters[i], reading_of(component, i), when);
    }
    if (again) {
        component_plan_check(component, when);
    } else {
        component->check_ns = 0;
    }
}

/* Results. */

uint64_t component_late_ns(const struct component *component, int domain, double energy_j)
{
    uint64_t late_ns;

    if (isnan(energy_j) || component->known_ns[domain] == 0) {
        return FEED_NEVER;
    }
    late_ns = component->known_ns[domain] - component->origin_ns;
    return late_ns > FEED_LATE_NS ? late_ns : 0;
}

/* @return the share of the run, with its late start, that the meter covers, 0..1. */
static double coverage(const struct apapi_event_result *meter, const struct apapi_span *span)
{
    return fmin((double)meter->covered_ns / (double)(span->late_ns + span->elapsed_ns), 1);
}

/* Finish a copy of the meter: the meter itself may be read on. */
static void finish_meter(const struct component *component, size_t index,
                         const struct apapi_span *span, struct apapi_event_result *result)
{
    struct apapi_meter meter = component->meters[index];
    struct apapi_histogram histogram;

    if (meter.histogram) {
        histogram = *meter.histogram;
        meter.histogram = meter.rate.histogram = &histogram;
    }
    apapi_meter_finish(&meter, span, result);
}

/* Finish a copy of a domain's meter. */
static void finish_domain(const struct component *component, int domain,
                          const struct apapi_span *span,
                          const struct apapi_component_result *result,
                          struct apapi_domain_result *domain_result)
{
    struct apapi_domain_meter meter = component->domains[domain];
    struct apapi_histogram histogram;
    double covered = NAN, missing_j = 0;

    *domain_result = (struct apapi_domain_result){.measured = false};
    for (size_t i = 0; i < component->meter_count; i++) {
        if ((int)component->feeds[i] == domain) {
            double share = coverage(&result->events[i], span);

            apapi_domain_result_add(domain_result, &result->events[i]);
            covered = fmin(covered, share);
            missing_j += result->events[i].total * (1 / share - 1);
        }
    }
    if (meter.rate.histogram) {
        histogram = *meter.rate.histogram;
        meter.rate.histogram = &histogram;
    }
    apapi_domain_meter_finish(&meter, span->elapsed_ns, domain_result);
    if (domain_result->measured) {
        domain_result->covered = covered;
        domain_result->rest_j = missing_j;
    }
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

/* Tell why the component was not measured, or not to the end; "" if it was. */
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

/*
 * A shown event with a definition that differs from the source's has a twin among the hidden ones:
 * both are made of the same readings. @return whether the event has one on the other side.
 */
static bool has_twin(const struct component *component, size_t index)
{
    bool shown = index < component->event_count;
    size_t end = shown ? component->meter_count : component->event_count;

    for (size_t i = shown ? component->event_count : 0; i < end; i++) {
        if (strcmp(component->events[i].name, component->events[index].name) == 0) {
            return true;
        }
    }
    return false;
}

/* Add up the faults of all meters. A hidden meter that did not move is shown: it says why. */
static void component_judge(const struct component *component, const struct apapi_span *span,
                            struct apapi_component_result *result, struct domain_results *domains)
{
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_event_result *event = &result->events[i];
        bool shown = i < component->event_count, twin = has_twin(component, i);

        domains->covered = fmin(domains->covered, coverage(event, span));
        if (!shown || !twin) {
            incidents_add(&domains->incidents, &event->incidents);
        }
        if (!shown && !twin && (event->stuck || event->still)) {
            result->events[result->event_count++] = *event;
        }
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
    result->event_count = component->event_count; /* events that only feed a domain lie behind */
    result->user_rules = component->user_rules;
    snprintf(result->source, sizeof result->source, "%s", component->detail);
    for (size_t i = 0; i < component->meter_count; i++) {
        finish_meter(component, i, span, &result->events[i]);
        result->measured |= result->events[i].covered_ns > 0;
    }
    finish_domains(component, index, span, result, domains);
    if (result->measured) {
        component_judge(component, span, result, domains);
        result->outages = component->retry.outages;
        result->outage_ns = retry_outage_ns(&component->retry);
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
    free(component->spans_ns);
    free(component->histograms);
    memset(component, 0, sizeof *component);
    errno = saved;
}
