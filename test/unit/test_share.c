/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"
#include "measure/share.h"
#include "unit/near.h"

#define PACKAGE APAPI_DOMAIN_PACKAGE
#define DRAM APAPI_DOMAIN_DRAM
#define GPU APAPI_DOMAIN_GPU
#define NODE APAPI_DOMAIN_NODE

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

static void assert_closed(const struct share_totals *totals)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        double sum_j = totals->steps_j[d] + totals->idle_j[d] + totals->unattributed_j[d];

        assert_true(fabs(sum_j - totals->energy_j[d]) <= 1e-9 * totals->energy_j[d]);
    }
}

static struct share_interval interval;
static struct share_totals totals;

static void begin(void)
{
    interval = interval_of(1);
    totals = (struct share_totals){0};
}

static void divide(const char *method, enum share_idle idle, struct share_step *steps, size_t count)
{
    const struct share_rule rule = {share_method_find(method), idle};

    share_divide(&rule, &interval, steps, count, &totals);
    assert_closed(&totals);
}

#define DIVIDED(name) TEST_WITH(name, begin, NULL)

/* For idle power that is known later. */
DIVIDED(the_parts_of_a_step_are_kept)
{
    struct share_interval slow = interval_of(1);
    struct share_step steps[] = {step_of(3, 4), step_of(1, 2)};

    interval.energy_j[PACKAGE] = 140;
    interval.energy_j[NODE] = 280; /* it is divided as the package is */
    interval.cpu_s = 4;
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_APART}, &interval, steps, 2,
                 &totals);
    assert_near(steps[0].energy_j[PACKAGE], 105);
    assert_near(steps[0].dynamic_s[PACKAGE], 0.75);
    assert_near(steps[1].dynamic_s[PACKAGE], 0.25);
    assert_near(steps[0].dynamic_s[NODE], 0.75);
    assert_true(steps[0].dynamic_s[GPU] == 0 && steps[0].cores_s[PACKAGE] == 0);
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_CORES}, &interval, steps, 2,
                 &totals);
    assert_near(steps[0].dynamic_s[PACKAGE], 1.5);
    assert_near(steps[0].cores_s[PACKAGE], 0.5);
    assert_near(steps[1].cores_s[NODE], 0.25);
    slow.energy_j[DRAM] = 50;
    slow.span_s[DRAM] = 5;
    slow.cpu_s = 4;
    share_divide(&(struct share_rule){share_methods, SHARE_IDLE_APART}, &slow, steps, 2, &totals);
    assert_near(steps[0].dynamic_s[DRAM], 3.75);
    assert_closed(&totals);
}

DIVIDED(idle_power_goes_by_cores_where_the_site_says_so)
{
    struct share_step steps[] = {step_of(0, 4), step_of(2, 2)};

    interval.energy_j[PACKAGE] = 120;
    interval.idle_w[PACKAGE] = 80;
    divide("cpu-time", SHARE_IDLE_CORES, steps, 2);
    assert_near(steps[0].energy_j[PACKAGE], 40);
    assert_near(steps[0].idle_j[PACKAGE], 40);
    assert_near(steps[1].energy_j[PACKAGE], 60);
    assert_near(steps[1].idle_j[PACKAGE], 20);
    assert_near(totals.idle_j[PACKAGE], 20); /* of two cores that no step has */
}

DIVIDED(a_gpu_goes_to_the_step_that_has_it)
{
    static const uint8_t three[SHARE_GPUS_MAX] = {0, 3, 3}, four[SHARE_GPUS_MAX] = {0, 0, 4};
    static const uint8_t all[SHARE_GPUS_MAX] = {7, 7, 7, 7};
    struct share_step steps[] = {step_of(1, 4), step_of(1, 4), step_of(1, 1)};

    interval.energy_j[GPU] = 1000;
    interval.gpu_j[0] = 400;
    interval.gpu_j[1] = 350;
    interval.gpu_j[2] = 200;
    interval.gpu_j[3] = 40; /* no step has this GPU; another 10 J are of no known GPU */
    steps[0].gpus = 1;
    steps[1].gpus = 2 | 4;
    steps[1].slices = three;
    steps[2].gpus = 4;
    steps[2].slices = four;
    interval.gpu_slices = all;
    divide("cpu-time", SHARE_IDLE_APART, steps, 3);
    assert_near(steps[0].energy_j[GPU], 400);
    assert_near(steps[1].energy_j[GPU], 550 * 3.0 / 7);
    assert_near(steps[2].energy_j[GPU], 200 * 4.0 / 7);
    assert_near(totals.idle_j[GPU], 40 + 350 * 4.0 / 7);
    assert_near(totals.unattributed_j[GPU], 10);
}

DIVIDED(the_node_is_divided_as_its_parts)
{
    struct share_step steps[] = {step_of(3, 4), step_of(1, 4)};

    interval.energy_j[PACKAGE] = 140;
    interval.idle_w[PACKAGE] = 100;
    interval.energy_j[GPU] = 60;
    interval.gpu_j[0] = 60;
    steps[1].gpus = 1;
    interval.energy_j[NODE] = 300;
    interval.energy_j[APAPI_DOMAIN_CORE] = 5;
    interval.idle_w[APAPI_DOMAIN_CORE] = 10; /* more than it drew */
    divide("cpu-time", SHARE_IDLE_APART, steps, 2);
    assert_near(totals.idle_j[APAPI_DOMAIN_CORE], 5);
    assert_near(steps[0].energy_j[NODE], 300 * 30.0 / 200);
    assert_near(steps[1].energy_j[NODE], 300 * 70.0 / 200);
    assert_near(totals.idle_j[NODE], 300 * 100.0 / 200);
}

TEST(idle_power_is_a_low_percentile)
{
    static struct idle_power idle;
    double error_w, power_w;

    idle_add(&idle, 500, IDLE_ENOUGH_S - 1);
    assert_true(isnan(idle_power_w(&idle, &error_w)));
    idle_add(&idle, NAN, 100);
    idle_add(&idle, 0, 100);
    idle_add(&idle, INFINITY, 100);
    assert_true(isnan(idle_power_w(&idle, &error_w)));
    for (int i = 0; i < 1000; i++) {
        idle_add(&idle, 90 + i % 100, 10); /* from 90 to 189 W */
    }
    power_w = idle_power_w(&idle, &error_w);
    assert_true(power_w >= 98 && power_w <= 101);
    assert_true(power_w + error_w >= 137 && power_w + error_w <= 143);
}

/* A node that is never idle: jobs' CPU time varies by a third, and the meters err by 1 %. */
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

/* The meters' error does not get smaller when idle energy is taken away. */
TEST(a_share_has_its_part_of_the_error)
{
    assert_near(share_part(100, 1000, NAN), 0.1);
    assert_near(share_part(100, 1000, 800), 0.5);
    assert_near(share_part(0.25, 1000, 1000.5), 1);
}

TEST(idle_power_forgets)
{
    static struct idle_power idle;
    double error_w;

    idle_add(&idle, 50, IDLE_MEMORY_S);
    for (int i = 0; i < 60; i++) {
        idle_add(&idle, 100, IDLE_MEMORY_S / 10);
    }
    assert_true(fabs(idle_power_w(&idle, &error_w) - 100) < 1e-3);
    assert_true(idle.sum_s <= IDLE_MEMORY_S);
}

DIVIDED(a_step_without_cpu_time_leaves_its_part_unattributed)
{
    struct share_step steps[] = {step_of(1, 4), step_of(NAN, 4)};

    interval.energy_j[PACKAGE] = 100;
    interval.cpu_s = 4;
    divide("cpu-time", SHARE_IDLE_APART, steps, 2);
    assert_near(steps[0].energy_j[PACKAGE], 25);
    assert_near(totals.unattributed_j[PACKAGE], 75);
    interval.cpu_s = NAN; /* the use of the other step is not known */
    divide("cpu-time", SHARE_IDLE_APART, steps, 2);
    assert_near(steps[0].energy_j[PACKAGE], 25);
    assert_near(totals.unattributed_j[PACKAGE], 175);
}

/* Two steps that both claim a GPU get no more than the GPU has used. */
DIVIDED(a_gpu_of_two_steps_is_counted_once)
{
    struct share_step steps[] = {step_of(1, 4), step_of(1, 4)};

    interval.energy_j[GPU] = 90;
    interval.gpu_j[5] = 100; /* more than its domain has */
    steps[0].gpus = steps[1].gpus = UINT64_C(1) << 5;
    divide("cpu-time", SHARE_IDLE_APART, steps, 2);
    assert_near(steps[0].energy_j[GPU], 45);
    assert_near(steps[1].energy_j[GPU], 45);
}

/* The extrapolation forgets old times, and works for any time. */
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
