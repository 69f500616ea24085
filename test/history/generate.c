/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/play.h"

#include <string.h>

#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)
#define LEAP_S 1000       /* [s], not plausible in any run */
#define STRETCHED_NS S    /* longest stretched interval of the fastest component */
#define RUN_INTERVALS 120 /* length of a run, in intervals of the fastest component */

static const enum apapi_domain domains[] = {APAPI_DOMAIN_PACKAGE, APAPI_DOMAIN_DRAM,
                                            APAPI_DOMAIN_GPU};

enum shape { SHAPE_CONSTANT, SHAPE_SQUARE, SHAPE_BURSTS, SHAPE_STEPS, SHAPES };

/* @return whole joules for each second, and whole microjoules for each part: sums are exact. */
static double generate_some_w(struct random *random, double most_w)
{
    return 1 + floor(random_between(random, 0, most_w - 1));
}

/* @param most_w  the power is never higher */
static void generate_power(struct power *power, struct random *random, double most_w)
{
    enum shape shape = (enum shape)random_below(random, SHAPES);
    double base_w = generate_some_w(random, most_w / 4);
    uint64_t part_ns = 1000 * random_scale(random, 100, 1e6);
    size_t parts = 2 + random_below(random, HISTORY_PARTS - 1);

    switch (shape) {
    case SHAPE_CONSTANT:
        power_add_part(power, 1000000000, generate_some_w(random, most_w));
        break;
    case SHAPE_SQUARE:
        power_add_part(power, part_ns, base_w);
        power_add_part(power, part_ns, generate_some_w(random, most_w));
        break;
    case SHAPE_BURSTS:
        power_add_part(power, part_ns * (1 + random_below(random, 50)), base_w);
        power_add_part(power, part_ns, generate_some_w(random, most_w));
        break;
    case SHAPE_STEPS:
    case SHAPES:
        for (size_t i = 0; i < parts - 1; i++) {
            power_add_part(power, 1000 * random_scale(random, 100, 1e6),
                           generate_some_w(random, most_w));
        }
        break;
    }
}

static void generate_counter(struct history_meter *meter, struct random *random)
{
    static const double scales[] = {1e-6, 15.3e-6, 61.03515625e-6, 1e-3};
    double max_w = apapi_domain_max_w(meter->domain);

    meter->doubles = random_once_in(random, 8);
    meter->scale = meter->doubles ? 1 : scales[random_below(random, 4)];
    if (!meter->doubles && !random_once_in(random, 4)) {
        /* range of a tenth of a second at full power to a day */
        double range_j = random_once_in(random, 2) ? max_w * random_between(random, 0.1, 10)
                                                   : max_w * random_between(random, 10, 1e5);

        meter->range_max = (uint64_t)(range_j / meter->scale);
    }
    meter->update_ns = random_once_in(random, 4) ? 1000 * random_scale(random, 61, 200000) : MS;
    meter->stated_ns = random_once_in(random, 6) ? 0 : meter->update_ns;
    meter->phase_ns = random_below(random, meter->update_ns);
    meter->offset_j = meter->range_max
                          ? random_share(random) * (double)meter->range_max * meter->scale
                          : floor(random_between(random, 0, 1e6));
}

static void generate_meter(struct history_meter *meter, struct random *random)
{
    *meter = (struct history_meter){.domain = domains[random_below(random, 3)],
                                    .socket = (unsigned)random_below(random, HISTORY_SOCKETS),
                                    .gauge = random_once_in(random, 5)};
    if (meter->gauge) {
        meter->scale = 1e-3;
        meter->update_ns = 1;
    } else {
        generate_counter(meter, random);
    }
}

static void generate_fault(struct history_fault *fault, const struct history_component *component,
                           uint64_t end_ns, struct random *random)
{
    *fault = (struct history_fault){.kind = (enum history_fault_kind)random_below(random, FAULTS),
                                    .from_ns = random_below(random, end_ns + 1),
                                    .event = random_below(random, component->event_count)};
    fault->to_ns = fault->from_ns + random_scale(random, 1e6, (double)(2 * end_ns + 2 * MS));
    fault->length_ns = random_scale(random, 1e5, 2e8);
    fault->leap_s = LEAP_S;
}

static uint64_t generate_reading_ns(struct random *random)
{
    if (random_once_in(random, 12)) {
        return random_scale(random, 1e6, random_once_in(random, 8) ? 1e10 : 1e8);
    }
    return random_scale(random, 1e3, 1e6);
}

/* A component that is slow to read has its own worker, or few others would be read in time. */
static void generate_component(struct history_component *component, struct random *random)
{
    component->interval_ns = random_scale(random, 1e6, random_once_in(random, 4) ? 5e9 : 2e8);
    component->own_worker = random_once_in(random, 3);
    component->slow = random_once_in(random, 6);
    component->open_ns =
        component->slow ? random_scale(random, 1e6, 1e10) : random_scale(random, 1e4, 1e6);
    component->read_ns = generate_reading_ns(random);
    component->event_count = 1 + random_below(random, HISTORY_EVENTS);
    for (size_t i = 0; i < component->event_count; i++) {
        generate_meter(&component->meters[i], random);
    }
}

/* Keep one fault of each kind: history_fault_at() returns one fault of a kind at a time. */
static void drop_second_faults(struct history_component *component)
{
    unsigned seen = 0;
    size_t kept = 0;

    for (size_t i = 0; i < component->fault_count; i++) {
        const struct history_fault fault = component->faults[i];

        if (!(seen & 1u << fault.kind)) {
            component->faults[kept++] = fault;
        }
        seen |= 1u << fault.kind;
    }
    component->fault_count = kept;
}

static void generate_faults(struct history *history, struct random *random)
{
    if (random_once_in(random, 2)) {
        return;
    }
    for (size_t i = 0; i < history->component_count; i++) {
        struct history_component *component = &history->components[i];

        component->fault_count =
            random_once_in(random, 2) ? random_below(random, HISTORY_FAULTS + 1) : 0;
        for (size_t k = 0; k < component->fault_count; k++) {
            generate_fault(&component->faults[k], component, history->end_ns, random);
        }
        drop_second_faults(component);
    }
}

static void generate_stops(struct history *history, struct random *random)
{
    uint64_t after_ns = 0;

    history->stop_count = random_once_in(random, 4) ? random_below(random, HISTORY_STOPS + 1) : 0;
    for (size_t i = 0; i < history->stop_count; i++) {
        after_ns += random_below(random, history->end_ns + 1);
        history->stops[i].from_ns = after_ns;
        after_ns += random_scale(random, 1e5, 5e9);
        history->stops[i].to_ns = after_ns;
    }
    history->late_once_in = random_once_in(random, 3) ? 1 + random_below(random, 50) : 0;
    history->latest_ns = random_scale(random, 1e5, 3e8);
}

/* Make actions: start, snapshots and stop, up to three times. */
static void generate_actions(struct history *history, uint64_t length_ns, struct random *random)
{
    size_t runs = random_once_in(random, 3) ? 1 + random_below(random, 3) : 1;
    uint64_t now_ns = random_below(random, 100 * MS);

    for (size_t run = 0; run < runs; run++) {
        size_t snapshots = random_once_in(random, 2) ? random_below(random, 2) : 0;

        history->actions[history->action_count++] = (struct history_action){ORDER_START, now_ns};
        for (size_t i = 0; i < snapshots; i++) {
            now_ns += random_below(random, length_ns);
            history->actions[history->action_count++] =
                (struct history_action){ORDER_SNAPSHOT, now_ns};
        }
        now_ns += random_below(random, length_ns);
        history->actions[history->action_count++] = (struct history_action){ORDER_STOP, now_ns};
        now_ns += random_once_in(random, 2) ? 0 : random_below(random, length_ns);
    }
    history->end_ns = now_ns;
}

static uint64_t fastest_ns(const struct history *history)
{
    uint64_t fastest_ns = UINT64_MAX;

    for (size_t i = 0; i < history->component_count; i++) {
        const struct history_component *component = &history->components[i];

        fastest_ns = component->interval_ns < fastest_ns ? component->interval_ns : fastest_ns;
    }
    return fastest_ns;
}

/* @return bits of threads that cannot be started: single ones, or all from one on. */
static uint32_t generate_refused_threads(struct random *random)
{
    uint32_t few = (uint32_t)(1 << random_below(random, 6) | 1 << random_below(random, 6));

    return random_once_in(random, 2) ? few : UINT32_MAX << random_below(random, 6);
}

/* Make some leaps so small that they may soon be plausible. */
static void generate_small_leaps(struct history *history, struct random *random)
{
    for (size_t i = 0; i < history->component_count; i++) {
        struct history_component *component = &history->components[i];

        for (size_t k = 0; k < component->fault_count; k++) {
            if (component->faults[k].kind == FAULT_LEAP && random_once_in(random, 2)) {
                component->faults[k].leap_s = 1e-9 * (double)random_scale(random, 1e6, 1e11);
            }
        }
    }
}

static void stretch_component(struct history_component *component, uint64_t times)
{
    component->interval_ns *= times;
    for (size_t i = 0; i < component->fault_count; i++) {
        component->faults[i].from_ns *= times;
        component->faults[i].to_ns *= times;
    }
}

/* Make time longer, with as many readings, so that sources are opened again after outages. */
static void generate_stretch(struct history *history, struct random *random)
{
    uint64_t most = STRETCHED_NS / fastest_ns(history);
    uint64_t times = random_once_in(random, 4) ? random_scale(random, 2, 100) : 1;

    times = most == 0 ? 1 : times < most ? times : most;
    for (size_t i = 0; i < history->component_count; i++) {
        stretch_component(&history->components[i], times);
    }
    for (size_t i = 0; i < history->action_count; i++) {
        history->actions[i].at_ns *= times;
    }
    history->end_ns *= times;
}

/* Add more by other random numbers, so that the seeds in histories.c keep their histories. */
static void generate_more(struct history *history)
{
    struct random random = {.state = history->seed * UINT64_C(0x9e3779b97f4a7c15) + 2};

    history->refused_threads = random_once_in(&random, 16) ? generate_refused_threads(&random) : 0;
    generate_small_leaps(history, &random);
    generate_stretch(history, &random);
}

void history_generate(struct history *history, uint64_t seed)
{
    struct random random = {.state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1};

    memset(history, 0, sizeof *history);
    history->seed = seed;
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        for (int socket = 0; socket < HISTORY_SOCKETS; socket++) {
            struct power *power = &history->powers[domains[i]][socket];

            power_init(power, history->parts[domains[i]][socket], HISTORY_PARTS);
            generate_power(power, &random, apapi_domain_max_w(domains[i]) / 3);
        }
    }
    history->component_count = 1 + random_below(&random, HISTORY_COMPONENTS);
    for (size_t i = 0; i < history->component_count; i++) {
        generate_component(&history->components[i], &random);
    }
    history->min_interval_ns = random_once_in(&random, 4) ? random_scale(&random, 1e6, 2e8) : 0;
    history->patience_ns = random_once_in(&random, 3) ? random_scale(&random, 1e6, 2e9) : 0;
    generate_actions(history, RUN_INTERVALS * fastest_ns(history), &random);
    generate_faults(history, &random);
    generate_stops(history, &random);
    generate_more(history);
}
