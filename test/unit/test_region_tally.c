/* SPDX-License-Identifier: BSD-3-Clause */
/* What regions count of the processor's events, and regions that overlap. */
#include <pthread.h>
#include <sys/wait.h>

#include "apapi/papi_hl_compat.h"
#include "apapi/region.h"
#include "regions/overlap.h"
#include "regions/program.h"
#include "regions/tally.h"
#include "unit/unit.h"

enum { TOT_INS, POWER }; /* events, in the order of the list */
#define READING 20       /* what PAPI_TOT_INS of the fake goes up by */

static struct tally_sums sums;

static int count_events(void **state)
{
    (void)state;
    setenv("APAPI_PAPI_LIBRARY", FAKE_COUNTERS, 1);
    setenv("PAPI_EVENTS", "PAPI_TOT_INS,fake:::power", 1);
    setenv("PAPI_OUTPUT_DIRECTORY", "/dev/null/none", 1); /* nothing is left behind */
    return 0;
}

/* The node of this name in the program's page that is the last one. */
static uint32_t node_of(const char *name)
{
    uint32_t node = page_node_count(program.page);

    while (node > 0 && strcmp(program.page->nodes[node - 1].name, name) != 0) {
        node--;
    }
    assert_true(node > 0);
    return node - 1;
}

static void test_sums_of_passes(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(apapi_region_begin("outer"), 0);
        apapi_region_begin("inner");
        apapi_region_end("inner");
        assert_int_equal(apapi_region_read("outer"), 0);
        apapi_region_end("outer");
    }
    assert_int_equal(tally_event_count(), 2);
    assert_string_equal(tally_event(POWER)->name, "fake:::power");
    assert_true(tally_copy(0, node_of("outer"), &sums));
    assert_int_equal(sums.passes, 3);
    assert_int_equal(sums.totals[TOT_INS], 3 * 4 * READING);
    assert_int_equal(sums.totals[POWER], 3 * 42);
    assert_int_equal(sums.reads[0], 3);
    assert_int_equal(sums.read_totals[0][TOT_INS], 3 * 3 * READING);
    assert_int_equal(sums.reads[1], 0);
    assert_true(tally_copy(0, node_of("inner"), &sums));
    assert_int_equal(sums.totals[TOT_INS], 3 * READING);
    assert_false(tally_copy(0, 0, &sums));
    assert_false(tally_copy(PAGE_THREADS, 1, &sums));
    assert_false(tally_copy(0, PAGE_NODES, &sums));
}

static void *run_thread(void *context)
{
    apapi_region_begin("thread");
    apapi_region_end("thread");
    return context;
}

/* A thread that follows another one in its slot adds to it. */
static void test_threads(void **state)
{
    pthread_t thread;

    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_false(tally_copy(0, node_of("thread"), &sums));
    assert_true(tally_copy(1, node_of("thread"), &sums));
    assert_int_equal(sums.passes, 3);
    assert_int_equal(sums.totals[TOT_INS], 3 * READING);
}

static void test_more_readings_than_are_kept(void **state)
{
    (void)state;
    apapi_region_begin("readings");
    for (int i = 0; i < TALLY_READS + 5; i++) {
        apapi_region_read("readings");
    }
    apapi_region_end("readings");
    assert_true(tally_copy(0, node_of("readings"), &sums));
    assert_int_equal(sums.reads[TALLY_READS - 1], 1);
    assert_int_equal(sums.read_totals[TALLY_READS - 1][TOT_INS], TALLY_READS * READING);
}

static void test_failing_readings_add_nothing(void **state)
{
    (void)state;
    apapi_region_begin("failing");
    setenv("FAKE_COUNTERS_FAIL", "0", 1);
    apapi_region_end("failing");
    apapi_region_begin("failing");
    unsetenv("FAKE_COUNTERS_FAIL");
    apapi_region_end("failing");
    assert_true(tally_copy(0, node_of("failing"), &sums));
    assert_int_equal(sums.passes, 0);
    assert_int_equal(sums.totals[TOT_INS], 0);
}

static void test_overlapping_regions_go_on(void **state)
{
    (void)state;
    apapi_region_begin("first");
    apapi_region_begin("second");
    apapi_region_begin("third");
    assert_int_equal(overlap_end("first"), 0);
    assert_int_equal(overlap_end("third"), 0);
    assert_int_equal(overlap_end("second"), 0);
    assert_true(tally_copy(0, node_of("first"), &sums));
    assert_int_equal(sums.passes, 1);
    assert_true(tally_copy(0, node_of("second"), &sums)); /* the one outside of "first" */
    assert_int_equal(sums.passes, 1);
    assert_int_equal(overlap_end("second"), -1);
}

static void test_results_are_those_of_papi(void **state)
{
    (void)state;
    assert_int_equal(apapi_hl_set_events("EXTRA"), PAPI_EMISC); /* regions count already */
    assert_int_equal(apapi_hl_region_begin("papi"), PAPI_OK);
    assert_int_equal(apapi_hl_region_begin("papi"), PAPI_OK);
    assert_int_equal(apapi_hl_region_end("papi"), PAPI_OK);
    assert_int_equal(apapi_hl_read("papi"), PAPI_OK);
    assert_int_equal(apapi_hl_region_end("papi"), PAPI_OK);
    assert_int_equal(apapi_hl_region_end("papi"), PAPI_EINVAL);
    assert_int_equal(apapi_hl_read("papi"), PAPI_EINVAL);
    assert_int_equal(apapi_hl_region_begin(NULL), PAPI_EINVAL);
    assert_int_equal(apapi_hl_region_end(NULL), PAPI_EINVAL);
}

/* The counters are the parent's. */
static void test_child_of_a_fork_counts_nothing(void **state)
{
    int status;
    pid_t child;

    (void)state;
    apapi_region_begin("fork");
    child = fork();
    if (child == 0) {
        apapi_region_begin("child");
        apapi_region_end("child");
        _exit(tally_copy(0, 1, &sums) ? 1 : 0);
    }
    apapi_region_end("fork");
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(tally_copy(0, node_of("fork"), &sums));
    assert_int_equal(sums.totals[TOT_INS], READING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_passes),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_more_readings_than_are_kept),
        cmocka_unit_test(test_failing_readings_add_nothing),
        cmocka_unit_test(test_overlapping_regions_go_on),
        cmocka_unit_test(test_results_are_those_of_papi),
        cmocka_unit_test(test_child_of_a_fork_counts_nothing),
    };

    return cmocka_run_group_tests(tests, count_events, NULL);
}
