/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulation/sim_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIFE 16 /* leaps of one life of a counter, at most */

struct sim_reader {
    struct apapi_reader base;
    size_t component;
    uint64_t opened_ns;
    size_t order[HISTORY_EVENTS];
    struct apapi_event events[HISTORY_EVENTS];
};

static struct sim_source *source;

const struct history_fault *history_fault_at(const struct history_component *component,
                                             enum history_fault_kind kind, uint64_t now_ns)
{
    for (size_t i = 0; i < component->fault_count; i++) {
        const struct history_fault *fault = &component->faults[i];

        if (fault->kind == kind && now_ns >= fault->from_ns && now_ns < fault->to_ns) {
            return fault;
        }
    }
    return NULL;
}

bool history_has(const struct history_component *component, enum history_fault_kind kind)
{
    for (size_t i = 0; i < component->fault_count; i++) {
        if (component->faults[i].kind == kind) {
            return true;
        }
    }
    return false;
}

void sim_source_use(struct sim_source *used, const struct history *history, struct sim_clock *clock)
{
    memset(used, 0, sizeof *used);
    used->history = history;
    used->clock = clock;
    used->origin_ns = clock->running->now_ns;
    used->random.state = history->seed ^ 0x5eed;
    source = used;
}

void sim_begin(struct sim_source *used, struct sim_clock *clock, const struct history *history,
               uint64_t seed)
{
    sim_clock_init(clock, seed, SIM_BEGIN_NS);
    clock->late_once_in = history->late_once_in;
    clock->latest_ns = history->latest_ns;
    clock->refused = history->refused_threads;
    clock->stop_count = history->stop_count;
    for (size_t i = 0; i < history->stop_count; i++) {
        clock->stops[i].from_ns = SIM_BEGIN_NS + history->stops[i].from_ns;
        clock->stops[i].to_ns = SIM_BEGIN_NS + history->stops[i].to_ns;
    }
    sim_source_use(used, history, clock);
}

static uint64_t now_ns(void)
{
    return source->clock->running->now_ns - source->origin_ns;
}

static uint64_t pass(uint64_t ns)
{
    return sim_clock_pass(source->clock, ns) - source->origin_ns;
}

static bool is_by_caller(void)
{
    return source->clock->running == source->clock->actors;
}

/* --- the devices --------------------------------------------------------------------------- */

static uint64_t updated_ns(const struct history_component *component, size_t event, uint64_t at_ns)
{
    const struct history_meter *meter = &component->meters[event];
    const struct history_fault *freeze = history_fault_at(component, FAULT_FREEZE, at_ns);

    if (freeze && freeze->event == event) {
        at_ns = freeze->from_ns;
    }
    return at_ns < meter->phase_ns
               ? 0
               : (at_ns - meter->phase_ns) / meter->update_ns * meter->update_ns + meter->phase_ns;
}

/* @return when the counter last began again at 0; 0: never. */
static uint64_t begun_ns(const struct history_component *component, uint64_t at_ns, unsigned *life)
{
    uint64_t begun_ns = 0;

    *life = 0;
    for (size_t i = 0; i < component->fault_count; i++) {
        const struct history_fault *fault = &component->faults[i];
        uint64_t reset_ns = fault->kind == FAULT_RESET    ? fault->from_ns
                            : fault->kind == FAULT_VANISH ? fault->to_ns
                                                          : UINT64_MAX;

        if (reset_ns <= at_ns) {
            *life += LIFE;
            begun_ns = reset_ns > begun_ns ? reset_ns : begun_ns;
        }
    }
    return begun_ns;
}

static double leaps_j(const struct history_component *component, size_t event, uint64_t from_ns,
                      uint64_t at_ns, unsigned *life)
{
    double leap_j = 0;

    for (size_t i = 0; i < component->fault_count; i++) {
        const struct history_fault *fault = &component->faults[i];

        if (fault->kind == FAULT_LEAP && fault->event == event && fault->from_ns >= from_ns &&
            fault->from_ns <= at_ns) {
            ++*life;
            leap_j += fault->leap_s * apapi_domain_max_w(component->meters[event].domain);
        }
    }
    return leap_j;
}

static double device_j(const struct history *history, size_t component, size_t event,
                       uint64_t at_ns, unsigned *life)
{
    const struct history_component *script = &history->components[component];
    const struct history_meter *meter = &script->meters[event];
    const struct power *power = &history->powers[meter->domain][meter->socket];
    uint64_t then_ns = updated_ns(script, event, at_ns);
    uint64_t begin_ns = begun_ns(script, then_ns, life);
    double counted_j =
        power_energy_j(power, then_ns) + leaps_j(script, event, begin_ns, then_ns, life);

    return begin_ns ? counted_j - power_energy_j(power, begin_ns) : counted_j + meter->offset_j;
}

uint64_t sim_source_count(const struct history *history, size_t component, size_t event,
                          uint64_t at_ns)
{
    unsigned life;

    return (uint64_t)(device_j(history, component, event, at_ns, &life) /
                      history->components[component].meters[event].scale);
}

unsigned sim_source_life(const struct history *history, size_t component, size_t event,
                         uint64_t at_ns)
{
    unsigned life;

    device_j(history, component, event, at_ns, &life);
    return life;
}

static uint64_t raw_of_double(double value)
{
    uint64_t raw;

    memcpy(&raw, &value, sizeof raw);
    return raw;
}

static uint64_t absurd_raw(const struct history_meter *meter)
{
    if (meter->doubles) {
        return raw_of_double(random_once_in(&source->random, 2) ? NAN : 1e12);
    }
    return meter->range_max ? meter->range_max + 1 + random_below(&source->random, 1000)
                            : UINT64_C(1) << 62 | random_bits(&source->random) >> 2;
}

static uint64_t raw_value(size_t component, size_t event, uint64_t at_ns)
{
    const struct history *history = source->history;
    const struct history_component *script = &history->components[component];
    const struct history_meter *meter = &script->meters[event];
    const struct history_fault *absurd = history_fault_at(script, FAULT_ABSURD, at_ns);
    unsigned life;
    uint64_t count;

    if (meter->gauge) {
        const struct power *power = &history->powers[meter->domain][meter->socket];
        uint64_t held_ns = (at_ns + meter->phase_ns) % meter->update_ns;
        uint64_t shown_ns = at_ns > held_ns ? at_ns - held_ns : 0;

        return (uint64_t)(power_at_w(power, shown_ns) / meter->scale + 0.5);
    }
    if (absurd && absurd->event == event && random_once_in(&source->random, 3)) {
        source->components[component].absurd[event] = true;
        return absurd_raw(meter);
    }
    if (meter->doubles) {
        return raw_of_double(device_j(history, component, event, at_ns, &life));
    }
    count = sim_source_count(history, component, event, at_ns);
    return meter->range_max ? count % (meter->range_max + 1) : count;
}

/* --- reading ------------------------------------------------------------------------------- */

static bool is_dead(const struct sim_reader *reader, uint64_t at_ns)
{
    const struct history_component *script = &source->history->components[reader->component];

    for (size_t i = 0; i < script->fault_count; i++) {
        const struct history_fault *fault = &script->faults[i];

        if (fault->kind == FAULT_VANISH && reader->opened_ns < fault->to_ns &&
            at_ns >= fault->from_ns) {
            return true;
        }
    }
    return false;
}

static uint64_t hang(const struct history_component *script, uint64_t at_ns)
{
    const struct history_fault *fault = history_fault_at(script, FAULT_HANG, at_ns);

    return fault ? pass(fault->to_ns - at_ns) : at_ns;
}

static uint64_t delay_ns(const struct history_component *script, enum history_fault_kind kind)
{
    const struct history_fault *fault = history_fault_at(script, kind, now_ns());

    return fault ? random_below(&source->random, fault->length_ns + 1) : 0;
}

static int error_of(const struct sim_reader *reader, size_t event, uint64_t at_ns)
{
    const struct history_component *script = &source->history->components[reader->component];
    const struct history_fault *one = history_fault_at(script, FAULT_FAIL_ONE, at_ns);

    if (is_dead(reader, at_ns)) {
        return ENODEV;
    }
    return history_fault_at(script, FAULT_FAIL, at_ns) || (one && one->event == event) ? EIO : 0;
}

static void sim_read(struct apapi_reader *base, struct apapi_reading *readings)
{
    struct sim_reader *reader = (struct sim_reader *)base;
    struct sim_component *component = &source->components[reader->component];
    const struct history_component *script = &source->history->components[reader->component];
    uint64_t length_ns = script->read_ns / 2 + random_below(&source->random, script->read_ns + 1);
    uint64_t before_ns = random_below(&source->random, length_ns + 1);
    uint64_t at_ns;

    component->by_caller += is_by_caller();
    component->begin_ns = now_ns();
    at_ns = hang(script, pass(before_ns + delay_ns(script, FAULT_EARLY)));
    if (history_fault_at(script, FAULT_END_THREAD, at_ns)) {
        component->lost++;
        component->lost_reader = base;
        sim_clock_end_thread(source->clock);
    }
    component->value_ns = at_ns;
    memset(component->absurd, 0, sizeof component->absurd);
    for (size_t i = 0; i < base->count; i++) {
        size_t event = reader->order[i];
        int error = error_of(reader, event, at_ns);

        readings[i] =
            (struct apapi_reading){error ? 0 : raw_value(reader->component, event, at_ns), error};
    }
    pass(length_ns - before_ns + delay_ns(script, FAULT_LATE));
    component->end_ns = now_ns();
}

void sim_source_free_lost(struct sim_source *used)
{
    for (size_t i = 0; i < used->history->component_count; i++) {
        free(used->components[i].lost_reader);
    }
}

static void sim_close(struct apapi_reader *base)
{
    struct sim_reader *reader = (struct sim_reader *)base;

    source->components[reader->component].closed++;
    source->components[reader->component].by_caller += is_by_caller();
    free(reader);
}

static const struct apapi_source sim_source_constant = {
    .name = "sim", .read = sim_read, .close = sim_close};

size_t sim_source_number(const struct apapi_event *event)
{
    return (size_t)(event->name[strlen(event->name) - 1] - '0');
}

static void describe_event(struct apapi_event *event, size_t component, size_t index)
{
    const struct history_meter *meter = &source->history->components[component].meters[index];

    memset(event, 0, sizeof *event);
    snprintf(event->name, sizeof event->name, "c%zu:::E%zu", component, index);
    strcpy(event->unit, meter->gauge ? "W" : "J");
    event->kind = meter->gauge ? APAPI_KIND_POWER : APAPI_KIND_ENERGY;
    event->domain = meter->domain;
    event->type = meter->doubles ? APAPI_TYPE_FP64 : APAPI_TYPE_UINT64;
    event->accumulates = !meter->gauge;
    event->range_max = meter->range_max;
    event->scale = meter->scale;
    event->guard_j = meter->range_max ? (double)meter->range_max * meter->scale : 0;
    event->update_ns = meter->stated_ns;
    event->most_w = (float)meter->most_w;
}

/* Open a component. After it has vanished, its events are in another order. */
static struct apapi_reader *open_reader(size_t component)
{
    const struct history_component *script = &source->history->components[component];
    struct sim_reader *reader = calloc(1, sizeof *reader);
    unsigned life;
    size_t turned;

    if (!reader) {
        abort();
    }
    begun_ns(script, now_ns(), &life);
    turned = life / LIFE % script->event_count;
    reader->component = component;
    reader->opened_ns = now_ns();
    reader->base = (struct apapi_reader){.source = &sim_source_constant,
                                         .events = reader->events,
                                         .count = script->event_count,
                                         .own_worker = script->own_worker};
    snprintf(reader->base.detail, sizeof reader->base.detail, "sim c%zu", component);
    for (size_t i = 0; i < script->event_count; i++) {
        reader->order[i] = (i + turned) % script->event_count;
        describe_event(&reader->events[i], component, reader->order[i]);
    }
    source->components[component].opened++;
    return &reader->base;
}

/* --- in place of the routes ---------------------------------------------------------------- */

static size_t number_of(const char *component)
{
    return (size_t)(component[1] - '0');
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* --wrap calls these functions */

bool __wrap_apapi_route_known(const char *component)
{
    return component[0] == 'c' && number_of(component) < source->history->component_count;
}

void __wrap_apapi_catalog_want(const char *component)
{
    (void)component;
}

bool __wrap_apapi_catalog_slow(const char *component, const char *order)
{
    (void)order;
    return source->history->components[number_of(component)].slow;
}

struct apapi_reader *__wrap_apapi_catalog_open(const char *component, const char *order,
                                               struct apapi_error *err)
{
    size_t number = number_of(component);
    const struct history_component *script = &source->history->components[number];

    (void)order;
    if (history_fault_at(script, FAULT_VANISH, hang(script, pass(script->open_ns)))) {
        apapi_fail(err, ENODEV, "%s is gone", component);
        return NULL;
    }
    return open_reader(number);
}
