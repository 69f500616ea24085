/* SPDX-License-Identifier: BSD-3-Clause */
/* The processor's events in regions, and regions that overlap. */
#include "regions/counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#include "apapi/papi_hl_compat.h"
#include "apapi/region.h"
#include "regions/program.h"
#include "unit/unit.h"

#define READING 20 /* what PAPI_TOT_INS of the fake goes up by */

/* Those that are counted: of the events asked for, the ones that exist; a set's stand together. */
enum { TOT_INS, EXTRA, TASK_CLOCK, POWER, STEPS, EVENTS };
#define ASKED_FOR                                                                                  \
    "PAPI_TOT_INS,fake:::power,NO_SUCH,fake:::steps=delta,EXTRA,EXTRA,perf::TASK-CLOCK,skx_unc_"   \
    "imc0::Y"

static struct tally_sums sums;
static struct counter_events list;

static void count_events(void)
{
    setenv("APAPI_PAPI_LIBRARY", FAKE_COUNTERS, 1);
    setenv("PAPI_EVENTS", ASKED_FOR, 1);
    setenv("PAPI_OUTPUT_DIRECTORY", "/dev/null/none", 1); /* nothing is left behind */
}

static void assert_list(const char *expected)
{
    char text[COUNTER_EVENTS_MAX * COUNTER_NAME_SIZE] = "";

    for (size_t i = 0; i < list.count; i++) {
        strcat(strcat(text, list.events[i].name), list.events[i].instant ? "! " : " ");
    }
    assert_string_equal(text, expected);
}

TEST(list_as_in_the_environment)
{
    assert_int_equal(counters_parse(&list, " A , perf::B=instant,,C=delta,"), 0);
    assert_list("A perf::B! C ");
    assert_int_equal(counters_parse(&list, ""), 0);
    assert_list("");
}

TEST(gauges_are_instant)
{
    counters_parse(&list, "nvml:::x:power,coretemp:::temperature1,x:::power=delta,"
                          "nvml:::total_energy_consumption,hw:mask=2");
    assert_list("nvml:::x:power! coretemp:::temperature1! x:::power "
                "nvml:::total_energy_consumption hw:mask=2 ");
}

TEST(too_many_and_too_long)
{
    char text[3 * 40 + COUNTER_NAME_SIZE + 8] = "";

    for (int i = 0; i < 40; i++) {
        sprintf(text + strlen(text), "%c%c,", 'a' + i / 26, 'a' + i % 26);
    }
    memset(text + strlen(text), 'x', COUNTER_NAME_SIZE);
    assert_int_equal(counters_parse(&list, text), 40 - COUNTER_EVENTS_MAX + 1);
    assert_int_equal(list.count, COUNTER_EVENTS_MAX);
}

TEST(events_that_exist)
{
    apapi_region_begin("any");
    apapi_region_end("any");
    list = *tally_events();
    assert_list("PAPI_TOT_INS EXTRA perf::TASK-CLOCK fake:::power! fake:::steps ");
}

/* One of the fake's own functions. */
static int (*of_fake(const char *name))(const char *)
{
    void *library = dlopen(FAKE_COUNTERS, RTLD_NOW | RTLD_NOLOAD);
    int (*function)(const char *);
    void *address = library ? dlsym(library, name) : NULL;

    assert_non_null(address);
    memcpy(&function, &address, sizeof function);
    dlclose(library);
    return function;
}

TEST(other_components_are_off)
{
    static const char *const off[] = {"other", "fak"};
    static const char *const on[] = {"fake", "perf_event", "perf_event_uncore"};

    for (size_t i = 0; i < COUNT_OF(off); i++) {
        assert_int_equal(of_fake("fake_counters_disabled")(off[i]), 1);
    }
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        assert_int_equal(of_fake("fake_counters_disabled")(on[i]), 0);
    }
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

TEST(sums_of_passes)
{
    for (int i = 0; i < 3; i++) {
        assert_int_equal(apapi_region_begin("outer"), 0);
        apapi_region_begin("inner");
        apapi_region_end("inner");
        assert_int_equal(apapi_region_read("outer"), 0);
        apapi_region_end("outer");
    }
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
TEST(threads)
{
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, run_thread, NULL), 0);
        pthread_join(thread, NULL);
    }
    assert_false(tally_copy(0, node_of("thread"), &sums));
    assert_true(tally_copy(1, node_of("thread"), &sums));
    assert_int_equal(sums.passes, 3);
    assert_int_equal(sums.totals[TOT_INS], 3 * READING);
    assert_int_equal(sums.totals[STEPS], 3 * 60);
}

static void *run_threads_sets(void *context)
{
    int before = of_fake("fake_counters_sets")(NULL);

    run_thread(NULL);
    assert_int_equal(of_fake("fake_counters_sets")(NULL), before + 2);
    return context;
}

TEST(nothing_is_left_of_a_thread)
{
    int before = of_fake("fake_counters_sets")(NULL);
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, run_threads_sets, NULL), 0);
    pthread_join(thread, NULL);
    assert_int_equal(of_fake("fake_counters_sets")(NULL), before);
}

TEST(failing_readings_add_nothing)
{
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

TEST(overlapping_regions_go_on)
{
    apapi_region_begin("first");
    apapi_region_begin("second");
    apapi_region_begin("third");
    assert_int_equal(apapi_hl_region_end("first"), PAPI_OK);
    assert_int_equal(apapi_hl_region_end("third"), PAPI_OK);
    assert_int_equal(apapi_hl_region_end("second"), PAPI_OK);
    assert_true(tally_copy(0, node_of("first"), &sums));
    assert_int_equal(sums.passes, 1);
    assert_true(tally_copy(0, node_of("second"), &sums)); /* the one outside of "first" */
    assert_int_equal(sums.passes, 1);
    assert_int_equal(apapi_hl_region_end("second"), PAPI_EINVAL);
}

TEST(results_are_those_of_papi)
{
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
TEST(child_of_a_fork_counts_nothing)
{
    int status;
    pid_t child;

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

ALL_TESTS_IN(count_events, NULL)
