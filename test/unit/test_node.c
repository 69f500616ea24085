/* SPDX-License-Identifier: BSD-3-Clause */
/* A node's totals over restarts of its sampler, and what Slurm is told of them. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>

#include "node/folder.h"
#include "node/gap.h"
#include "node/state.h"
#include "node/sum.h"
#include "node_energy.h"
#include "unit/temporary.h"
#include "unit/unit.h"

#define SECOND UINT64_C(1000000000)
#define RANGE 262143328850U

static const struct apapi_event package = {.name = "rapl:::PACKAGE_ENERGY:PACKAGE0",
                                           .unit = "J",
                                           .kind = APAPI_KIND_ENERGY,
                                           .domain = APAPI_DOMAIN_PACKAGE,
                                           .type = APAPI_TYPE_UINT64,
                                           .accumulates = true,
                                           .range_max = RANGE,
                                           .scale = 1e-6,
                                           .guard_j = RANGE * 1e-6};

/* 100 W for ten seconds, from `raw` on. */
static double gap_of(uint64_t raw, uint64_t later, uint64_t since_ns)
{
    const struct node_counter before = {.raw = raw, .time_ns = SECOND};

    return node_gap_j(&package, &before, later, SECOND + since_ns);
}

static void test_a_counter_that_went_on_counts(void **state)
{
    (void)state;
    assert_float_equal(gap_of(5000000, 1005000000, 10 * SECOND), 1000, 1e-6);
    assert_float_equal(gap_of(5000000, 5000000, 10 * SECOND), 0, 0);
}

static void test_a_wrap_in_between_counts(void **state)
{
    (void)state;
    assert_float_equal(gap_of(RANGE - 400000000, 599999999, 10 * SECOND), 1000, 1e-6);
}

static void test_what_is_not_certain_is_not_known(void **state)
{
    const struct node_counter later = {.raw = 1, .time_ns = 2 * SECOND};

    (void)state;
    assert_true(isnan(gap_of(5000000, 4000000, SECOND / 10)));          /* it began again */
    assert_true(isnan(gap_of(5000000, 6000000, 86400 * SECOND)));       /* whole wraps are hidden */
    assert_true(isnan(gap_of(5000000, 5000000 + 99999000000, SECOND))); /* 100 kW */
    assert_true(isnan(node_gap_j(&package, &later, 2, SECOND)));        /* the clock went back */
}

static struct apapi_live_slot meter(double total_j, double rate_w, uint64_t time_ns)
{
    return (struct apapi_live_slot){.total = total_j,
                                    .rate = rate_w,
                                    .time_ns = time_ns,
                                    .interval_ns = SECOND,
                                    .readings = 2,
                                    .flags = APAPI_LIVE_MEASURED};
}

static void test_slurm_is_told_package_dram_and_gpu(void **state)
{
    struct apapi_live_slot domains[APAPI_LIVE_DOMAINS] = {{0}}, sum;

    (void)state;
    domains[APAPI_DOMAIN_PACKAGE] = meter(1000, 100, 10 * SECOND);
    domains[APAPI_DOMAIN_CORE] = meter(800, 80, 10 * SECOND);
    domains[APAPI_DOMAIN_GPU] = meter(2000, 200, 11 * SECOND);
    domains[APAPI_DOMAIN_NODE] = meter(9000, 900, 11 * SECOND);
    node_sum(domains, false, &sum);
    assert_float_equal(sum.total, 1000 + 100 + 2000, 1e-9); /* all of the latest moment */
    assert_float_equal(sum.rate, 300, 1e-9);
    assert_int_equal(sum.time_ns, 11 * SECOND);
    node_sum(domains, true, &sum);
    assert_float_equal(sum.total, 9000, 1e-9);
    domains[APAPI_DOMAIN_NODE].flags = 0;
    node_sum(domains, true, &sum);
    assert_true(isnan(sum.total));
}

static void test_each_joule_of_a_step_is_told_once(void **state)
{
    struct tally tally = {0};
    uint64_t sum_j = 0;

    (void)state;
    assert_int_equal(tally_add(&tally, 5000.3), 0);
    for (int i = 1; i <= 1000; i++) {
        sum_j += tally_add(&tally, 5000.3 + 0.4 * i);
    }
    assert_int_equal(sum_j, 400);
    assert_int_equal(tally_add(&tally, 5100), 0); /* never taken back */
    assert_int_equal(tally_add(&tally, 5401.3), 1);
}

static int open_folder(void)
{
    int folder = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(folder >= 0);
    return folder;
}

static void test_the_state_goes_on(void **state)
{
    struct node_state first = NODE_STATE_NONE, second = NODE_STATE_NONE;
    struct apapi_error err;
    int folder = open_folder();

    (void)state;
    assert_int_equal(node_state_open(&first, folder, &err), 0);
    assert_true(isnan(first.now.total_j[APAPI_DOMAIN_PACKAGE]));
    for (int i = 1; i <= 3; i++) {
        first.now.total_j[APAPI_DOMAIN_PACKAGE] = i;
        node_state_counter(&first, "a")->raw = (uint64_t)i * 10;
        node_state_write(&first);
    }
    first.now.total_j[APAPI_DOMAIN_PACKAGE] = 99; /* not written */
    assert_int_equal(node_state_open(&second, folder, &err), -1);
    assert_int_equal(errno, EWOULDBLOCK);
    node_state_close(&first);
    assert_int_equal(node_state_open(&second, folder, &err), 0);
    assert_float_equal(second.now.total_j[APAPI_DOMAIN_PACKAGE], 3, 0);
    assert_int_equal(node_state_counter(&second, "a")->raw, 30);
    assert_int_equal(node_state_counter(&second, "b")->time_ns, 0);
    node_state_close(&second);
    close(folder);
}

/* Killed while it wrote: the figures before are whole. */
static void test_a_torn_state_is_that_before(void **state)
{
    struct node_state first = NODE_STATE_NONE;
    struct apapi_error err;
    const uint64_t torn = 0;
    int folder = open_folder();

    (void)state;
    assert_int_equal(node_state_open(&first, folder, &err), 0);
    for (int i = 1; i <= 2; i++) {
        first.now.total_j[APAPI_DOMAIN_DRAM] = i;
        node_state_write(&first);
    }
    /* The second write went to the second copy. */
    assert_int_equal(pwrite(first.descriptor, &torn, sizeof torn,
                            (off_t)(2 * sizeof(uint64_t) + sizeof(struct node_totals))),
                     sizeof torn);
    node_state_close(&first);
    assert_int_equal(node_state_open(&first, folder, &err), 0);
    assert_float_equal(first.now.total_j[APAPI_DOMAIN_DRAM], 1, 0);
    node_state_close(&first);
    close(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_counter_that_went_on_counts),
        cmocka_unit_test(test_a_wrap_in_between_counts),
        cmocka_unit_test(test_what_is_not_certain_is_not_known),
        cmocka_unit_test(test_slurm_is_told_package_dram_and_gpu),
        cmocka_unit_test(test_each_joule_of_a_step_is_told_once),
        cmocka_unit_test_setup_teardown(test_the_state_goes_on, make_base, remove_base),
        cmocka_unit_test_setup_teardown(test_a_torn_state_is_that_before, make_base, remove_base),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
