/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"
#include "measure/share.h"
#include "simulation/power.h"
#include "unit/unit.h"

#define PACKAGE APAPI_DOMAIN_PACKAGE
#define DRAM APAPI_DOMAIN_DRAM
#define GPU APAPI_DOMAIN_GPU
#define NODE APAPI_DOMAIN_NODE
#define ALMOST 1e-9

static struct share_interval interval_of(double seconds)
{
    struct share_interval interval = {.seconds = seconds, .cpu_s = NAN, .cores = 8};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        interval.energy_j[d] = interval.idle_w[d] = NAN;
    }
    for (unsigned gpu = 0; gpu < SHARE_GPUS_MAX; gpu++) {
        interval.gpu_j[gpu] = NAN;
    }
    return interval;
}

static struct share_step step_of(double cpu_s, double cores)
{
    return (struct share_step){.cpu_s = cpu_s, .cores = cores, .seconds = 1};
}

static struct share_rule rule_of(const char *method, enum share_idle idle)
{
    return (struct share_rule){share_method_find(method), idle};
}

static void assert_closed(const struct share_totals *totals)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double sum_j = totals->steps_j[d] + totals->idle_j[d] + totals->unattributed_j[d];

        assert_true(fabs(sum_j - totals->energy_j[d]) <= ALMOST * totals->energy_j[d]);
    }
}

TEST(dynamic_energy_goes_by_cpu_time)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(3, 4), step_of(1, 4)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 140;
    interval.idle_w[PACKAGE] = 100;
    interval.energy_j[DRAM] = 20; /* its idle power is not known */
    interval.cpu_s = 5;           /* one second is of daemons */
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 24) < ALMOST);
    assert_true(fabs(steps[1].energy_j[PACKAGE] - 8) < ALMOST);
    assert_true(steps[0].idle_j[PACKAGE] == 0);
    assert_true(fabs(steps[0].energy_j[DRAM] - 12) < ALMOST);
    assert_true(totals.idle_j[PACKAGE] == 100);
    assert_true(fabs(totals.unattributed_j[PACKAGE] - 8) < ALMOST);
    assert_true(totals.energy_j[GPU] == 0);
    assert_closed(&totals);
}

/* For idle power that is known later. */
TEST(the_parts_of_a_step_are_kept)
{
    struct share_interval interval = interval_of(1), slow = interval_of(1);
    struct share_step steps[] = {step_of(3, 4), step_of(1, 2)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 140;
    interval.energy_j[NODE] = 280; /* divided as the package is */
    interval.cpu_s = 4;
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_APART}, &interval, steps, 2,
                 &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 105) < ALMOST);
    assert_true(fabs(steps[0].dynamic_s[PACKAGE] - 0.75) < ALMOST);
    assert_true(fabs(steps[1].dynamic_s[PACKAGE] - 0.25) < ALMOST);
    assert_true(fabs(steps[0].dynamic_s[NODE] - 0.75) < ALMOST);
    assert_true(steps[0].dynamic_s[GPU] == 0 && steps[0].cores_s[PACKAGE] == 0);
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_CORES}, &interval, steps, 2,
                 &totals);
    assert_true(fabs(steps[0].dynamic_s[PACKAGE] - 1.5) < ALMOST);
    assert_true(fabs(steps[0].cores_s[PACKAGE] - 0.5) < ALMOST);
    assert_true(fabs(steps[1].cores_s[NODE] - 0.25) < ALMOST);
    slow.energy_j[DRAM] = 50;
    slow.span_s[DRAM] = 5;
    slow.cpu_s = 4;
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_APART}, &slow, steps, 2, &totals);
    assert_true(fabs(steps[0].dynamic_s[DRAM] - 3.75) < ALMOST);
    assert_closed(&totals);
}

TEST(idle_power_goes_by_cores_where_the_site_says_so)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_CORES);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(0, 4), step_of(2, 2)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 120;
    interval.idle_w[PACKAGE] = 80;
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 40) < ALMOST);
    assert_true(fabs(steps[0].idle_j[PACKAGE] - 40) < ALMOST);
    assert_true(fabs(steps[1].energy_j[PACKAGE] - 60) < ALMOST);
    assert_true(fabs(steps[1].idle_j[PACKAGE] - 20) < ALMOST);
    assert_true(fabs(totals.idle_j[PACKAGE] - 20) < ALMOST); /* of two cores that nobody has */
    assert_closed(&totals);
}

TEST(equal_cores_does_not_ask_for_cpu_time)
{
    struct share_rule rule = rule_of("equal-cores", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(NAN, 3), step_of(NAN, 2)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 100;
    steps[1].seconds = 0.5; /* it began in the middle */
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 75) < ALMOST);
    assert_true(fabs(steps[1].energy_j[PACKAGE] - 25) < ALMOST);
    assert_true(totals.unattributed_j[PACKAGE] == 0);
    assert_null(share_method_find("by-magic"));
}

TEST(a_step_without_cpu_time_leaves_its_part_unattributed)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(1, 4), step_of(NAN, 4)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 100;
    interval.cpu_s = 4;
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 25) < ALMOST);
    assert_true(fabs(totals.unattributed_j[PACKAGE] - 75) < ALMOST);
    interval.cpu_s = NAN; /* nobody knows what the other one used */
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[PACKAGE] - 25) < ALMOST);
    assert_true(fabs(totals.unattributed_j[PACKAGE] - 175) < ALMOST);
    assert_closed(&totals);
}

TEST(without_a_step_all_is_idle)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_CORES);
    struct share_interval interval = interval_of(1);
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 100;
    interval.energy_j[GPU] = 50;
    interval.energy_j[NODE] = 200;
    interval.idle_w[PACKAGE] = 80;
    share_divide(&rule, &interval, NULL, 0, &totals);
    assert_true(totals.idle_j[PACKAGE] == 100);
    assert_true(totals.idle_j[GPU] == 50);
    assert_true(totals.idle_j[NODE] == 200);
    assert_closed(&totals);
}

TEST(a_gpu_goes_to_the_step_that_has_it)
{
    static const uint8_t three[SHARE_GPUS_MAX] = {0, 3, 3}, four[SHARE_GPUS_MAX] = {0, 0, 4};
    static const uint8_t all[SHARE_GPUS_MAX] = {7, 7, 7, 7};
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(1, 4), step_of(1, 4), step_of(1, 1)};
    struct share_totals totals = {0};

    interval.energy_j[GPU] = 1000;
    interval.gpu_j[0] = 400;
    interval.gpu_j[1] = 350;
    interval.gpu_j[2] = 200;
    interval.gpu_j[3] = 40; /* nobody has it; another 10 J are of no GPU that is known */
    steps[0].gpus = 1;
    steps[1].gpus = 2 | 4;
    steps[1].slices = three;
    steps[2].gpus = 4;
    steps[2].slices = four;
    interval.gpu_slices = all;
    share_divide(&rule, &interval, steps, 3, &totals);
    assert_true(fabs(steps[0].energy_j[GPU] - 400) < ALMOST);
    assert_true(fabs(steps[1].energy_j[GPU] - 550 * 3.0 / 7) < ALMOST);
    assert_true(fabs(steps[2].energy_j[GPU] - 200 * 4.0 / 7) < ALMOST);
    assert_true(fabs(totals.idle_j[GPU] - 40 - 350 * 4.0 / 7) < ALMOST);
    assert_true(fabs(totals.unattributed_j[GPU] - 10) < ALMOST);
    assert_closed(&totals);
}

/* Two steps that both say that they have a GPU get no more than it used. */
TEST(a_gpu_of_two_steps_is_counted_once)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(1, 4), step_of(1, 4)};
    struct share_totals totals = {0};

    interval.energy_j[GPU] = 90;
    interval.gpu_j[5] = 100; /* more than the domain has */
    steps[0].gpus = steps[1].gpus = UINT64_C(1) << 5;
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[GPU] - 45) < ALMOST);
    assert_true(fabs(steps[1].energy_j[GPU] - 45) < ALMOST);
    assert_closed(&totals);
}

TEST(the_node_is_divided_as_its_parts)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(1);
    struct share_step steps[] = {step_of(3, 4), step_of(1, 4)};
    struct share_totals totals = {0};

    interval.energy_j[PACKAGE] = 140;
    interval.idle_w[PACKAGE] = 100;
    interval.energy_j[GPU] = 60;
    interval.gpu_j[0] = 60;
    steps[1].gpus = 1;
    interval.energy_j[NODE] = 300;
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[NODE] - 300 * 30.0 / 200) < ALMOST);
    assert_true(fabs(steps[1].energy_j[NODE] - 300 * 70.0 / 200) < ALMOST);
    assert_true(fabs(totals.idle_j[NODE] - 300 * 100.0 / 200) < ALMOST);
    assert_closed(&totals);
}

/* A node whose only meter is the BMC has a method all the same. */
TEST(a_node_without_parts_is_divided_by_cpu_time)
{
    struct share_rule rule = rule_of("cpu-time", SHARE_IDLE_APART);
    struct share_interval interval = interval_of(2);
    struct share_step steps[] = {step_of(3, 4), step_of(1, 4)};
    struct share_totals totals = {0};

    interval.energy_j[NODE] = 300;
    interval.idle_w[NODE] = 110;
    share_divide(&rule, &interval, steps, 2, &totals);
    assert_true(fabs(steps[0].energy_j[NODE] - 60) < ALMOST);
    assert_true(fabs(steps[1].energy_j[NODE] - 20) < ALMOST);
    assert_true(fabs(totals.idle_j[NODE] - 220) < ALMOST);
    assert_closed(&totals);
}

TEST(idle_power_is_a_low_percentile)
{
    static struct idle_power idle;

    idle_add(&idle, 500, IDLE_ENOUGH_S - 1);
    assert_true(isnan(idle_power_w(&idle)));
    idle_add(&idle, NAN, 100);
    idle_add(&idle, 0, 100);
    idle_add(&idle, INFINITY, 100);
    assert_true(isnan(idle_power_w(&idle)));
    for (int i = 0; i < 1000; i++) {
        idle_add(&idle, 90 + i % 100, 10); /* from 90 to 189 W */
    }
    assert_true(idle_power_w(&idle) >= 98 && idle_power_w(&idle) <= 101);
}

/* Older readings count less and less. */
/* A node that is never idle: jobs whose CPU time varies by a third, with meters that err by 1 %. */
TEST(idle_power_of_a_busy_node_is_extrapolated)
{
    unsigned known = 0, covered = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random random = {seed};
        struct idle_fit fit = {.count = 0};
        struct idle_estimate estimate;
        double cores = 6;

        for (int second = 0; second < 60; second++) {
            double error = (double)random_below(&random, 2001) / 1e5 - 0.01;

            if (second % 4 == 0) {
                cores = 4 + (double)random_below(&random, 201) / 100;
            }
            idle_fit_add(&fit, (100 + 25 * cores) * (1 + error), cores, 1);
        }
        estimate = idle_fit_estimate(&fit);
        known += !isnan(estimate.power_w);
        covered += fabs(estimate.power_w - 100) <= estimate.uncertainty_w;
        assert_false(estimate.uncertainty_w > 0.1 * 25 * 6);
    }
    print_message("# known in %u of 200, right in %u\n", known, covered);
    assert_true(known >= 160);
    assert_true(covered >= 0.97 * known);
}

TEST(without_another_load_idle_power_is_not_known)
{
    struct idle_fit fit = {.count = 0};

    for (int second = 0; second < 1000; second++) {
        idle_fit_add(&fit, 200 + second % 3, 4, 1);
    }
    assert_true(isnan(idle_fit_estimate(&fit).power_w));
    for (int second = 0; second < 1000; second++) { /* more power for less CPU time */
        idle_fit_add(&fit, 300, second % 3, 1);
    }
    assert_true(isnan(idle_fit_estimate(&fit).power_w));
}

/* It forgets, and holds any time. */
TEST(an_extrapolation_follows_the_last_hours)
{
    struct idle_fit fit = {.count = 0};

    for (int minute = 0; minute < 3000; minute++) {
        double cores = minute % 7;

        idle_fit_add(&fit, (minute < 1000 ? 150 : 90) + 5 * cores, cores, 60);
    }
    assert_true(fit.count <= IDLE_BLOCKS && fit.block_s < 2 * 3600);
    assert_true(fabs(idle_fit_estimate(&fit).power_w - 90) < 0.1);
}

TEST(idle_power_forgets)
{
    static struct idle_power idle;

    idle_add(&idle, 50, IDLE_MEMORY_S);
    for (int i = 0; i < 60; i++) {
        idle_add(&idle, 100, IDLE_MEMORY_S / 10);
    }
    assert_true(fabs(idle_power_w(&idle) - 100) < 1e-3);
    assert_true(idle.sum_s <= IDLE_MEMORY_S);
}

/* --- random histories ------------------------------------------------------------------------- */

#define HOURS 20
#define END_S (HOURS * 3600.0)
#define STEPS 500
#define NODES 2
#define CORES 64
#define IDLE_W 110.0
#define CORE_W 3.5   /* of a core at work */
#define DAEMONS 0.05 /* cores at work beside the steps */
#define PARTS 6
#define NS 1e9
#define RUNNING_MAX 64

/* A step. Its load in cores at work is what the simulator calls a power. */
struct actor {
    unsigned node;
    double cores, begin_s, end_s;
    struct power load;
    struct power_part parts[PARTS];
    double cpu_s, metered_cpu_s; /* at the last reading of cgroups, and of meters */
    double share_j;
};

static struct actor actors[STEPS];

static void actor_init(struct actor *actor, struct random *random)
{
    *actor = (struct actor){.node = (unsigned)random_below(random, NODES)};
    actor->cores = 1 + (double)random_below(random, 16);
    actor->begin_s = random_between(random, 60, END_S - 60);
    actor->end_s = fmin(END_S - 2, actor->begin_s + (double)random_scale(random, 2, 7200));
    power_init(&actor->load, actor->parts, PARTS);
    for (int i = 0; i < PARTS; i++) {
        power_add_line(&actor->load, random_scale(random, 0.2 * NS, 500 * NS),
                       random_between(random, 0.05, 1) * actor->cores,
                       random_between(random, 0.05, 1) * actor->cores);
    }
}

/* CPU time until then. */
static double actor_cpu_s(const struct actor *actor, double now_s)
{
    double since_s = fmin(now_s, actor->end_s) - actor->begin_s;

    return since_s > 0 ? power_energy_j(&actor->load, (uint64_t)(since_s * NS)) : 0;
}

/* A node, as the one who reads it sees it. */
struct scene {
    unsigned number;
    struct actor *running[RUNNING_MAX];
    size_t count;
    double metered_s, read_s; /* when the meters were read, and the cgroups */
    struct share_totals totals;
    struct idle_power idle[2]; /* power, and cores at work */
    double true_j;
};

static void scene_enter(struct scene *scene, double from_s, double now_s)
{
    scene->count = 0;
    for (int i = 0; i < STEPS; i++) {
        if (actors[i].node == scene->number && actors[i].begin_s < now_s &&
            actors[i].end_s > from_s) {
            assert_true(scene->count < RUNNING_MAX);
            scene->running[scene->count++] = &actors[i];
        }
    }
}

/* The meters between two readings. */
static double scene_meter_j(struct scene *scene, double now_s)
{
    double energy_j = (now_s - scene->metered_s) * (IDLE_W + DAEMONS * CORE_W);

    for (size_t i = 0; i < scene->count; i++) {
        double cpu_s = actor_cpu_s(scene->running[i], now_s);

        energy_j += CORE_W * (cpu_s - scene->running[i]->metered_cpu_s);
        scene->running[i]->metered_cpu_s = cpu_s;
    }
    scene->metered_s = now_s;
    scene->true_j += energy_j;
    return energy_j;
}

static void scene_fill(struct scene *scene, double from_s, double now_s,
                       struct share_interval *interval, struct share_step *steps)
{
    interval->cpu_s =
        DAEMONS * (now_s - from_s) - idle_power_w(&scene->idle[1]) * interval->seconds;
    for (size_t i = 0; i < scene->count; i++) {
        struct actor *actor = scene->running[i];
        double cpu_s = actor_cpu_s(actor, now_s);

        steps[i] = step_of(cpu_s - actor->cpu_s, actor->cores);
        steps[i].seconds = fmin(now_s, actor->end_s) - fmax(from_s, actor->begin_s);
        actor->cpu_s = cpu_s;
        interval->cpu_s += steps[i].cpu_s;
    }
}

/* Read meters and cgroups, the latter up to 10 ms later, and divide. */
static void scene_read(struct scene *scene, const struct share_rule *rule, double now_s,
                       struct random *random)
{
    double seconds = now_s - scene->metered_s, later_s = now_s + random_share(random) / 100;
    struct share_interval interval = interval_of(seconds);
    struct share_step steps[RUNNING_MAX];

    scene_enter(scene, fmin(scene->metered_s, scene->read_s), later_s);
    interval.energy_j[PACKAGE] = scene_meter_j(scene, now_s);
    interval.idle_w[PACKAGE] = idle_power_w(&scene->idle[0]);
    interval.cores = CORES;
    scene_fill(scene, scene->read_s, later_s, &interval, steps);
    if (scene->count == 0) {
        idle_add(&scene->idle[0], interval.energy_j[PACKAGE] / seconds, seconds);
        idle_add(&scene->idle[1], DAEMONS, seconds);
    }
    scene->read_s = later_s;
    share_divide(rule, &interval, steps, scene->count, &scene->totals);
    for (size_t i = 0; i < scene->count; i++) {
        scene->running[i]->share_j += steps[i].energy_j[PACKAGE];
    }
}

static void play(struct scene *scenes, const struct share_rule *rule, uint64_t seed)
{
    struct random random = {seed};

    for (int i = 0; i < STEPS; i++) {
        actor_init(&actors[i], &random);
    }
    for (double now_s = 2; now_s < END_S; now_s += random_between(&random, 1.9, 2.1)) {
        for (unsigned i = 0; i < NODES; i++) {
            scene_read(&scenes[i], rule, now_s, &random);
        }
    }
}

/* Twenty hours of two nodes, and 500 steps of random overlap, cores and load. */
static void check_history(const char *method, enum share_idle idle, uint64_t seed)
{
    struct share_rule rule = rule_of(method, idle);
    struct scene *scenes = calloc(NODES, sizeof(*scenes));

    assert_non_null(scenes);
    for (unsigned i = 0; i < NODES; i++) {
        scenes[i].number = i;
    }
    play(scenes, &rule, seed);
    for (unsigned i = 0; i < NODES; i++) {
        const struct share_totals *totals = &scenes[i].totals;
        double shares_j = totals->idle_j[PACKAGE] + totals->unattributed_j[PACKAGE];

        for (int k = 0; k < STEPS; k++) {
            shares_j += actors[k].node == i ? actors[k].share_j : 0;
        }
        assert_true(scenes[i].true_j > HOURS * 3600 * IDLE_W * 0.99);
        assert_true(fabs(shares_j - scenes[i].true_j) <= 0.001 * scenes[i].true_j);
        assert_true(totals->unattributed_j[PACKAGE] <= 0.01 * scenes[i].true_j);
    }
    free(scenes);
}

static double worst_error(void)
{
    double worst = 0;

    for (int i = 0; i < STEPS; i++) {
        double true_j = CORE_W * actor_cpu_s(&actors[i], END_S);

        worst = fmax(worst, fabs(actors[i].share_j - true_j) / true_j);
    }
    return worst;
}

TEST(shares_follow_the_true_power)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_history("cpu-time", SHARE_IDLE_APART, seed);
        print_message("# seed %d: at most %.2f %% from the truth\n", (int)seed,
                      100 * worst_error());
        assert_true(worst_error() < 0.05);
    }
}

TEST(the_sum_closes_with_every_method)
{
    for (const struct share_method *method = share_methods; method->name; method++) {
        check_history(method->name, SHARE_IDLE_CORES, 4);
    }
    assert_true(worst_error() > 0.05); /* cores say little of power */
}
