/* SPDX-License-Identifier: BSD-3-Clause */
#include "verify/ensembles.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

#define MS 1e6
#define S 1e9
#define PROFILE_LEAST_W 15.0
#define PROFILE_MOST_W 450.0

/* Courses of power between PROFILE_LEAST_W and PROFILE_MOST_W. */
enum profile {
    PROFILE_CONSTANT,
    PROFILE_RAMP,
    PROFILE_SINE,
    PROFILE_SQUARE,
    PROFILE_BURSTS,
    PROFILE_STEPS,
    PROFILE_WALK,
    PROFILE_LOAD, /* idle, then under load */
    PROFILES
};

/* --- courses of power ------------------------------------------------------------------------- */

#define PERIOD_LEAST_NS 2e6
#define PERIOD_MOST_NS 5e9
#define WALK_STEP_W 20.0

static double profiles_some_w(struct random *random)
{
    return random_between(random, PROFILE_LEAST_W, PROFILE_MOST_W);
}

static uint64_t profiles_some_period_ns(struct random *random)
{
    return random_scale(random, PERIOD_LEAST_NS, PERIOD_MOST_NS);
}

/* Make a square wave: `most_w` for a share `duty` of each period, else PROFILE_LEAST_W. */
static void profile_make_square(struct power *power, uint64_t period_ns, double duty, double most_w)
{
    uint64_t most_ns = (uint64_t)((double)period_ns * duty);

    power_add_part(power, period_ns - most_ns, PROFILE_LEAST_W);
    power_add_part(power, most_ns, most_w);
}

static void profile_make_steps(struct power *power, double least_ns, double most_ns,
                               struct random *random)
{
    for (size_t i = 0; i < power->size; i++) {
        power_add_part(power, random_scale(random, least_ns, most_ns), profiles_some_w(random));
    }
}

static void profile_make_sine(struct power *power, uint64_t period_ns, struct random *random)
{
    double mean_w = (PROFILE_LEAST_W + PROFILE_MOST_W) / 2;

    power_add_part(power, period_ns, mean_w);
    power_add_sine(power, period_ns, random_between(random, 0.1, 1) * (mean_w - PROFILE_LEAST_W));
}

static void profiles_make_ramp(struct power *power, struct random *random)
{
    double from_w = profiles_some_w(random), to_w = profiles_some_w(random);
    uint64_t period_ns = profiles_some_period_ns(random);

    power_add_line(power, period_ns, from_w, to_w);
    power_add_line(power, period_ns, to_w, from_w);
}

static double profiles_walk_on_w(double w, double step_w, struct random *random)
{
    w += random_between(random, -step_w, step_w);
    if (w < PROFILE_LEAST_W) {
        return 2 * PROFILE_LEAST_W - w;
    }
    return w > PROFILE_MOST_W ? 2 * PROFILE_MOST_W - w : w;
}

static void profiles_make_walk(struct power *power, struct random *random)
{
    uint64_t part_ns = random_scale(random, 2e5, 1e8);
    double w = profiles_some_w(random);

    for (size_t i = 0; i < power->size; i++) {
        power_add_part(power, part_ns, w);
        w = profiles_walk_on_w(w, WALK_STEP_W, random);
    }
}

/* Make a course of power with periods from milliseconds to seconds. @param length_ns  of the run */
static void profile_make(enum profile profile, struct power *power, uint64_t length_ns,
                         struct random *random)
{
    switch (profile) {
    case PROFILE_CONSTANT:
        power_add_part(power, (uint64_t)PERIOD_MOST_NS, profiles_some_w(random));
        break;
    case PROFILE_RAMP:
        profiles_make_ramp(power, random);
        break;
    case PROFILE_SINE:
        profile_make_sine(power, profiles_some_period_ns(random), random);
        break;
    case PROFILE_SQUARE:
        profile_make_square(power, profiles_some_period_ns(random), 0.5, profiles_some_w(random));
        break;
    case PROFILE_BURSTS:
        profile_make_square(power, profiles_some_period_ns(random),
                            random_between(random, 0.01, 0.5), PROFILE_MOST_W);
        break;
    case PROFILE_STEPS:
        profile_make_steps(power, PERIOD_LEAST_NS, 1e9, random);
        break;
    case PROFILE_WALK:
        profiles_make_walk(power, random);
        break;
    case PROFILE_LOAD: /* about once in the measured time */
    case PROFILES:
        power_add_part(power, length_ns, PROFILE_LEAST_W);
        power_add_part(power, length_ns, profiles_some_w(random));
        break;
    }
}

/* --- scenes ---------------------------------------------------------------------------------- */

#define RAPL_J 61.03515625e-6
#define LEAD_NS 100000000 /* by then, the source has been opened */

/* Add a counter; up to HISTORY_EVENTS in all. @return its power, which has no parts yet. */
static struct power *scene_add_counter(struct scene *scene, enum apapi_domain domain,
                                       unsigned socket)
{
    struct history_component *component = scene->component;
    struct history_meter *meter = &component->meters[component->event_count];
    struct power *power = &scene->history.powers[domain][socket];

    *meter = (struct history_meter){.domain = domain,
                                    .socket = socket,
                                    .scale = RAPL_J,
                                    .range_max = UINT32_MAX,
                                    .update_ns = (uint64_t)MS,
                                    .stated_ns = (uint64_t)MS};
    meter->offset_j = random_share(scene->random) * (double)meter->range_max * meter->scale;
    power_init(power, scene->parts[component->event_count], SCENE_PARTS);
    component->event_count++;
    return power;
}

static void scene_set_interval(struct scene *scene, double least_ns, double most_ns)
{
    scene->component->interval_ns = random_scale(scene->random, least_ns, most_ns);
}

/* Begin with a counter like RAPL's, read every 1 ms to 1 s for 5 ms to 60 s, with no power yet. */
static void scene_begin(struct scene *scene, struct random *random)
{
    memset(&scene->history, 0, sizeof scene->history);
    scene->start_ns = scene->late_ns = 0;
    scene->random = random;
    scene->history.component_count = 1;
    scene->component = scene->history.components;
    scene->meter = scene->component->meters;
    scene->component->read_ns = random_scale(random, 5e3, 1e5);
    scene->component->open_ns = (uint64_t)MS;
    scene->power = scene_add_counter(scene, APAPI_DOMAIN_PACKAGE, 0);
    scene_set_interval(scene, MS, S);
    scene->length_ns = random_scale(random, 5 * MS, 60 * S);
}

double scene_energy_j(const struct scene *scene, uint64_t from_ns, uint64_t to_ns)
{
    double energy_j = 0;

    for (size_t i = 0; i < scene->component->event_count; i++) {
        const struct history_meter *meter = &scene->meter[i];

        energy_j +=
            power_between_j(&scene->history.powers[meter->domain][meter->socket], from_ns, to_ns);
    }
    return energy_j;
}

/* Make a gauge whose source states its greatest power, or nothing, or half of it. */
static void scene_make_gauge(struct scene *scene)
{
    static const double most_w[] = {PROFILE_MOST_W, 0, PROFILE_MOST_W / 2};

    *scene->meter =
        (struct history_meter){.domain = APAPI_DOMAIN_PACKAGE,
                               .gauge = true,
                               .scale = 1e-3,
                               .update_ns = 1,
                               .most_w = most_w[random_below(scene->random, COUNT_OF(most_w))]};
}

/* Let the measurement begin at any phase of the power, which has been added, and of the meters. */
static void scene_set_start(struct scene *scene)
{
    for (size_t i = 0; i < scene->component->event_count; i++) {
        scene->meter[i].phase_ns = random_below(scene->random, scene->meter[i].update_ns);
    }
    scene->start_ns = LEAD_NS + random_below(scene->random, scene->power->period_ns);
}

#define DEFAULT_INTERVAL_NS 1e8

/* --- power ----------------------------------------------------------------------------------- */

static void ensembles_make_constant(struct scene *scene)
{
    scene_set_interval(scene, DEFAULT_INTERVAL_NS, DEFAULT_INTERVAL_NS);
    scene->length_ns = random_scale(scene->random, 5 * MS, 50 * MS);
    profile_make(PROFILE_CONSTANT, scene->power, scene->length_ns, scene->random);
}

static void ensembles_make_steps(struct scene *scene)
{
    profile_make_steps(scene->power, 2 * MS, S, scene->random);
}

static void ensembles_make_any(struct scene *scene)
{
    profile_make((enum profile)random_below(scene->random, PROFILES), scene->power,
                 scene->length_ns, scene->random);
}

static void ensembles_make_profile(struct scene *scene)
{
    profile_make((enum profile)scene->value, scene->power, scene->length_ns, scene->random);
}

static void ensembles_make_square(struct scene *scene)
{
    profile_make_square(scene->power, scene->component->interval_ns, 0.5, PROFILE_MOST_W);
}

/* The bursts are often shorter than the interval. */
static void ensembles_make_bursts(struct scene *scene)
{
    uint64_t period_ns = random_scale(scene->random, 2 * MS, 4 * S);

    profile_make_square(scene->power, period_ns, scene->value / 100, PROFILE_MOST_W);
}

/* Power rises from idle to load, `load_ns` before the end. */
static void scene_rise(struct scene *scene, uint64_t load_ns)
{
    power_add_part(scene->power, LEAD_NS + scene->length_ns - load_ns, PROFILE_LEAST_W);
    power_add_part(scene->power, (uint64_t)(100 * S), profiles_some_w(scene->random));
    scene_set_start(scene);
    scene->start_ns = LEAD_NS;
}

/* Power rises in one of the last ten intervals. */
static void ensembles_make_rises(struct scene *scene)
{
    uint64_t load_ns = random_below(scene->random, 10 * scene->component->interval_ns);

    scene_rise(scene, load_ns < scene->length_ns ? load_ns : scene->length_ns);
}

/* Power rises in the only interval, so that only probes show it. */
static void ensembles_make_rises_once(struct scene *scene)
{
    scene_set_interval(scene, S, S);
    scene->length_ns = random_scale(scene->random, 50 * MS, S);
    scene_rise(scene, random_below(scene->random, scene->length_ns));
}

/* Two packages and their memory each have their own course; their total is judged. */
static void ensembles_make_node(struct scene *scene)
{
    struct power *powers[3] = {scene->power};

    powers[1] = scene_add_counter(scene, APAPI_DOMAIN_PACKAGE, 1);
    powers[2] = scene_add_counter(scene, APAPI_DOMAIN_DRAM, 0);
    for (size_t i = 0; i < COUNT_OF(powers); i++) {
        profile_make((enum profile)random_below(scene->random, PROFILES), powers[i],
                     scene->length_ns, scene->random);
    }
}

/* --- the counter ----------------------------------------------------------------------------- */

/* The source states nothing, or what is true of RAPL. */
static void ensembles_make_update(struct scene *scene)
{
    struct history_meter *meter = scene->meter;

    meter->update_ns = (uint64_t)scene->value;
    meter->stated_ns = random_once_in(scene->random, 2) ? 0 : (uint64_t)MS;
    ensembles_make_any(scene);
}

/* The source states what is true of RAPL, but not of this counter. */
static void ensembles_make_misstated(struct scene *scene)
{
    ensembles_make_update(scene);
    scene->meter->stated_ns = (uint64_t)MS;
}

/* --- late readings --------------------------------------------------------------------------- */

static void ensembles_add_fault(struct scene *scene, enum history_fault_kind kind, uint64_t from_ns,
                                uint64_t to_ns)
{
    struct history_component *component = scene->component;

    component->faults[component->fault_count++] =
        (struct history_fault){.kind = kind, .from_ns = from_ns, .to_ns = to_ns};
}

/* Readings take up to 200 ms longer: at the start, at any time, at the end, or always. */
static void ensembles_make_late(struct scene *scene)
{
    enum history_fault_kind kind = (enum history_fault_kind)scene->value;
    uint64_t begin_ns, end_ns;

    ensembles_make_any(scene);
    scene_set_start(scene);
    begin_ns = scene->start_ns;
    end_ns = begin_ns + scene->length_ns;
    switch (random_below(scene->random, 4)) {
    case 0:
        ensembles_add_fault(scene, kind, 0, begin_ns + (uint64_t)MS);
        break;
    case 1:
        begin_ns += random_below(scene->random, scene->length_ns);
        ensembles_add_fault(scene, kind, begin_ns, begin_ns + random_scale(scene->random, MS, S));
        break;
    case 2:
        ensembles_add_fault(scene, kind, end_ns, UINT64_MAX);
        break;
    default:
        ensembles_add_fault(scene, kind, 0, UINT64_MAX);
        break;
    }
    scene->component->faults[0].length_ns = random_below(scene->random, 200 * (uint64_t)MS) + 1;
}

/* The sampler starts up to 200 ms after the step, when at least a fifth of the step is left. */
static void ensembles_make_late_start(struct scene *scene)
{
    uint64_t most_ns = scene->length_ns * 4 / 5;

    ensembles_make_any(scene);
    scene->late_ns = random_scale(scene->random, MS, 200 * MS);
    scene->late_ns = scene->late_ns < most_ns ? scene->late_ns : most_ns;
}

/* Each reading takes up to 20 ms, like files over FUSE on a busy machine. */
static void ensembles_make_busy(struct scene *scene)
{
    ensembles_make_any(scene);
    scene->component->read_ns = random_scale(scene->random, 1e5, 2e7);
}

/* The process stands still, up to three times. */
static void ensembles_make_stops(struct scene *scene)
{
    uint64_t at_ns;

    ensembles_make_any(scene);
    scene_set_start(scene);
    at_ns = scene->start_ns;
    scene->history.stop_count = 1 + random_below(scene->random, HISTORY_STOPS);
    for (size_t i = 0; i < scene->history.stop_count; i++) {
        at_ns += random_below(scene->random, scene->length_ns);
        scene->history.stops[i].from_ns = at_ns;
        at_ns += random_scale(scene->random, MS, S);
        scene->history.stops[i].to_ns = at_ns;
    }
}

/* Threads are woken late. */
static void ensembles_make_load(struct scene *scene)
{
    ensembles_make_any(scene);
    scene->history.late_once_in = 1 + random_below(scene->random, 5);
    scene->history.latest_ns = random_scale(scene->random, 1e5, 1e8);
}

/* --- frozen counters ------------------------------------------------------------------------- */

enum frozen { FROZEN_START, FROZEN_MIDDLE, FROZEN_END, FROZEN_LAST };

/* The counter is frozen for 0.1 to 5 s. */
static void ensembles_make_frozen(struct scene *scene)
{
    uint64_t from_ns, freeze_ns = random_scale(scene->random, 1e8, 5e9);

    scene->length_ns = random_scale(scene->random, S, 60 * S);
    ensembles_make_any(scene);
    scene_set_start(scene);
    from_ns = scene->start_ns;
    switch ((enum frozen)scene->value) {
    case FROZEN_START:
        from_ns -= random_below(scene->random, scene->start_ns / 2);
        freeze_ns += scene->start_ns - from_ns;
        break;
    case FROZEN_MIDDLE:
        from_ns += random_below(scene->random, scene->length_ns);
        break;
    case FROZEN_END:
        from_ns += scene->length_ns - random_below(scene->random, scene->length_ns / 2);
        freeze_ns = 60 * (uint64_t)S;
        break;
    case FROZEN_LAST: /* in the last interval */
        from_ns += scene->length_ns - random_below(scene->random, scene->component->interval_ns);
        freeze_ns = 60 * (uint64_t)S;
        break;
    }
    ensembles_add_fault(scene, FAULT_FREEZE, from_ns, from_ns + freeze_ns);
}

/* --- other faults ---------------------------------------------------------------------------- */

/* Add a fault of 1 ms to 5 s at any time. */
static void ensembles_add_any_fault(struct scene *scene, enum history_fault_kind kind)
{
    uint64_t from_ns = scene->start_ns + random_below(scene->random, scene->length_ns);

    ensembles_add_fault(scene, kind, from_ns, from_ns + random_scale(scene->random, MS, 5 * S));
}

/* Make a fault. A leap is as much as 2 kW in a thousand seconds. */
static void ensembles_make_fault(struct scene *scene)
{
    ensembles_make_any(scene);
    scene_set_start(scene);
    ensembles_add_any_fault(scene, (enum history_fault_kind)scene->value);
    scene->component->faults[0].leap_s = 1000;
}

static void scene_set_range(struct scene *scene, double least_j, double most_j)
{
    struct history_meter *meter = scene->meter;

    meter->range_max =
        (uint64_t)((double)random_scale(scene->random, least_j, most_j) / meter->scale);
    meter->offset_j = random_share(scene->random) * (double)meter->range_max * meter->scale;
}

/* At 2 kW, the counter wraps after 0.05 to 5 s. */
static void ensembles_make_wraps(struct scene *scene)
{
    scene_set_range(scene, 100, 10000);
    ensembles_make_any(scene);
}

/* Some resets look like a wrap. */
static void ensembles_make_hidden_resets(struct scene *scene)
{
    ensembles_make_wraps(scene);
    scene_set_start(scene);
    ensembles_add_any_fault(scene, FAULT_RESET);
}

/* Make a counter of joules as floating-point numbers. */
static void scene_make_doubles(struct scene *scene)
{
    struct history_meter *meter = scene->meter;

    meter->doubles = true;
    meter->scale = 1;
    meter->range_max = 0;
    meter->offset_j = floor(random_between(scene->random, 0, 1e6));
}

static void ensembles_make_doubles(struct scene *scene)
{
    scene_make_doubles(scene);
    ensembles_make_any(scene);
}

/* The process stands still for longer than the counter takes to wrap. */
static void ensembles_make_hidden_wraps(struct scene *scene)
{
    scene_set_range(scene, 50, 500);
    ensembles_make_stops(scene);
}

/* --- gauges ---------------------------------------------------------------------------------- */

/* @return a period of the load that is the interval, or close to it. */
static uint64_t ensembles_beating_ns(const struct scene *scene)
{
    double near = random_once_in(scene->random, 2) ? 1 : random_between(scene->random, 0.99, 1.01);

    return (uint64_t)((double)scene->component->interval_ns * near);
}

static void ensembles_make_gauge_sine(struct scene *scene)
{
    profile_make_sine(scene->power, ensembles_beating_ns(scene), scene->random);
}

static void ensembles_make_gauge_square(struct scene *scene)
{
    profile_make_square(scene->power, ensembles_beating_ns(scene), 0.5, PROFILE_MOST_W);
}

/* The power changes faster than it can be read. */
static void ensembles_make_gauge_noisy(struct scene *scene)
{
    profile_make_steps(scene->power, 1e5, 2 * MS, scene->random);
}

/* Like a management controller, show the same value until the power is looked at again. */
static void scene_hold(struct scene *scene)
{
    double interval_ns = (double)scene->component->interval_ns;

    scene->meter->update_ns = random_scale(scene->random, interval_ns, 20 * interval_ns);
}

static void ensembles_make_gauge_held(struct scene *scene)
{
    scene_hold(scene);
    ensembles_make_any(scene);
}

const struct ensemble ensembles[] = {
    {"constant", ensembles_make_constant, 0, false},
    {"steps", ensembles_make_steps, 0, false},
    {"profiles", ensembles_make_any, 0, false},
    {"square", ensembles_make_square, 0, false},
    {"bursts-1", ensembles_make_bursts, 1, false}, /* 450 W for 1 % of the time, 15 W else */
    {"bursts-5", ensembles_make_bursts, 5, false},
    {"bursts-10", ensembles_make_bursts, 10, false},
    {"bursts-25", ensembles_make_bursts, 25, false},
    {"bursts-50", ensembles_make_bursts, 50, false},
    {"walk", ensembles_make_profile, PROFILE_WALK, false},
    {"rises", ensembles_make_rises, 0, false},
    {"rises-once", ensembles_make_rises_once, 0, false},
    {"node", ensembles_make_node, 0, false},
    {"update-61us", ensembles_make_update, 61e3, false},
    {"update-1ms", ensembles_make_update, 1e6, false},
    {"update-10ms", ensembles_make_update, 1e7, false},
    {"update-100ms", ensembles_make_update, 1e8, false},
    {"update-1s", ensembles_make_update, 1e9, false},
    {"misstated-10ms", ensembles_make_misstated, 1e7, false},
    {"misstated-20ms", ensembles_make_misstated, 2e7, false},
    {"misstated-40ms", ensembles_make_misstated, 4e7, false},
    {"late-after", ensembles_make_late, FAULT_LATE, false},
    {"late-before", ensembles_make_late, FAULT_EARLY, false},
    {"start-late", ensembles_make_late_start, 0, false},
    {"busy", ensembles_make_busy, 0, false},
    {"stops", ensembles_make_stops, 0, false},
    {"load", ensembles_make_load, 0, false},
    {"frozen-start", ensembles_make_frozen, FROZEN_START, false},
    {"frozen-middle", ensembles_make_frozen, FROZEN_MIDDLE, false},
    {"frozen-end", ensembles_make_frozen, FROZEN_END, false},
    {"frozen-last", ensembles_make_frozen, FROZEN_LAST, false},
    {"hidden-wraps", ensembles_make_hidden_wraps, 0, false},
    {"wraps", ensembles_make_wraps, 0, false},
    {"doubles", ensembles_make_doubles, 0, false},
    {"failing", ensembles_make_fault, FAULT_FAIL, false},
    {"absurd", ensembles_make_fault, FAULT_ABSURD, false},
    {"reset", ensembles_make_fault, FAULT_RESET, false},
    {"hidden-resets", ensembles_make_hidden_resets, 0, false},
    {"leap", ensembles_make_fault, FAULT_LEAP, false},
    {"gauge-constant", ensembles_make_profile, PROFILE_CONSTANT, true},
    {"gauge-profiles", ensembles_make_any, 0, true},
    {"gauge-sine", ensembles_make_gauge_sine, 0, true},
    {"gauge-square", ensembles_make_gauge_square, 0, true},
    {"gauge-steps", ensembles_make_steps, 0, true},
    {"gauge-bursts-1", ensembles_make_bursts, 1, true},
    {"gauge-bursts-5", ensembles_make_bursts, 5, true},
    {"gauge-bursts-25", ensembles_make_bursts, 25, true},
    {"gauge-noisy", ensembles_make_gauge_noisy, 0, true},
    {"gauge-held", ensembles_make_gauge_held, 0, true},
    {"gauge-late", ensembles_make_late, FAULT_LATE, true},
    {"gauge-failing", ensembles_make_fault, FAULT_FAIL, true},
    {NULL, NULL, 0, false},
};

/* --- cells ----------------------------------------------------------------------------------- */

/* Names by profile, and one more name. */
static const char *const cell_courses[] = {"constant", "ramp", "sine", "square", "bursts",
                                           "steps",    "walk", "load", "rare"};

static const struct {
    const char *name;
    bool gauge, doubles, held;
    double update_ns;
} cell_meters[] = {{.name = "counter-61us", .update_ns = 61e3},
                   {.name = "counter-1ms", .update_ns = 1e6},
                   {.name = "counter-10ms", .update_ns = 1e7},
                   {.name = "counter-100ms", .update_ns = 1e8},
                   {.name = "doubles", .doubles = true, .update_ns = 1e6},
                   {.name = "gauge", .gauge = true},
                   {.name = "gauge-held", .gauge = true, .held = true}};

static const struct {
    const char *name;
    double least_ns, most_ns;
} cell_intervals[] = {{"10ms", 1e6, 1e7}, {"100ms", 1e7, 1e8}, {"1s", 1e8, 1e9}};

static const char *const cell_statements[] = {"true", "none", "wrong"};

#define CELLS                                                                                      \
    (COUNT_OF(cell_courses) * COUNT_OF(cell_meters) * COUNT_OF(cell_intervals) *                   \
     COUNT_OF(cell_statements))
_Static_assert(COUNT_OF(cell_courses) == PROFILES + 1, "a name for each, and rare bursts");

struct cell {
    size_t course, meter, interval, statement;
};

static struct cell cell_of(size_t number)
{
    struct cell cell = {.statement = number % COUNT_OF(cell_statements)};

    number /= COUNT_OF(cell_statements);
    cell.interval = number % COUNT_OF(cell_intervals);
    number /= COUNT_OF(cell_intervals);
    cell.meter = number % COUNT_OF(cell_meters);
    cell.course = number / COUNT_OF(cell_meters);
    return cell;
}

/*
 * A wrong period is a tenth of the true one to ten times as long. A wrong power is half of the true
 * one; but for a gauge that holds its values, only the period is wrong.
 */
static void cell_set_statement(struct scene *scene, size_t statement)
{
    struct history_meter *meter = scene->meter;
    double update_ns = (double)meter->update_ns;
    const double stated_ns[] = {
        update_ns, 0, (double)random_scale(scene->random, update_ns / 10, update_ns * 10)};
    const double most_w[] = {PROFILE_MOST_W, 0, PROFILE_MOST_W / (meter->update_ns > 1 ? 1 : 2)};

    meter->stated_ns = (uint64_t)stated_ns[statement];
    meter->most_w = meter->gauge ? most_w[statement] : 0;
}

static void ensembles_make_cell(struct scene *scene)
{
    const struct cell cell = cell_of((size_t)scene->value);
    struct history_meter *meter = scene->meter;

    if (cell_meters[cell.meter].doubles) {
        scene_make_doubles(scene);
    }
    if (!meter->gauge) {
        meter->update_ns = (uint64_t)cell_meters[cell.meter].update_ns;
    }
    scene_set_interval(scene, cell_intervals[cell.interval].least_ns,
                       cell_intervals[cell.interval].most_ns);
    if (cell_meters[cell.meter].held) {
        scene_hold(scene);
    }
    cell_set_statement(scene, cell.statement);
    if (cell.course < PROFILES) {
        profile_make((enum profile)cell.course, scene->power, scene->length_ns, scene->random);
    } else {
        profile_make_square(scene->power, profiles_some_period_ns(scene->random), 0.01,
                            PROFILE_MOST_W);
    }
}

const struct ensemble *ensemble_cells(void)
{
    static struct ensemble cells[CELLS + 1];
    static char names[CELLS][48];

    for (size_t i = 0; i < CELLS; i++) {
        const struct cell cell = cell_of(i);

        snprintf(names[i], sizeof names[i], "%s/%s/%s/%s", cell_courses[cell.course],
                 cell_meters[cell.meter].name, cell_intervals[cell.interval].name,
                 cell_statements[cell.statement]);
        cells[i] = (struct ensemble){.name = names[i],
                                     .gauge = cell_meters[cell.meter].gauge,
                                     .make = ensembles_make_cell,
                                     .value = (double)i};
    }
    return cells;
}

void ensemble_make(const struct ensemble *ensemble, struct scene *scene, struct random *random)
{
    scene_begin(scene, random);
    scene->value = ensemble->value;
    if (ensemble->gauge) {
        scene_make_gauge(scene);
    }
    ensemble->make(scene);
    if (scene->start_ns == 0) {
        scene_set_start(scene);
    }
}
