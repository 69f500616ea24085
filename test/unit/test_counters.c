/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PAPI events regions count, and that each thread counts for itself. */
#include "regions/counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "unit/unit.h"

static struct counter_events list;

static void assert_list(const char *expected)
{
    char text[COUNTER_EVENTS_MAX * COUNTER_NAME_SIZE] = "";

    for (size_t i = 0; i < list.count; i++) {
        strcat(strcat(text, list.events[i].name), list.events[i].instant ? "! " : " ");
    }
    assert_string_equal(text, expected);
}

static void test_list_as_in_the_environment(void **state)
{
    (void)state;
    assert_int_equal(counter_events_parse(&list, " A , perf::B=instant,,C=delta,"), 0);
    assert_list("A perf::B! C ");
    assert_int_equal(counter_events_parse(&list, ""), 0);
    assert_list("");
}

/* PAPI gives an event without a word the word of the one before it. */
static void test_instant_is_for_its_event_alone(void **state)
{
    (void)state;
    counter_events_parse(&list, "A=instant,B,C=delta,D");
    assert_list("A! B C D ");
}

static void test_gauges_are_instant(void **state)
{
    (void)state;
    counter_events_parse(&list, "nvml:::x:power,coretemp:::temperature1,x:::power=delta,"
                                "nvml:::total_energy_consumption,hw:mask=2");
    assert_list("nvml:::x:power! coretemp:::temperature1! x:::power "
                "nvml:::total_energy_consumption hw:mask=2 ");
}

static void test_too_many_and_too_long(void **state)
{
    char text[3 * 40 + COUNTER_NAME_SIZE + 8] = "";

    (void)state;
    for (int i = 0; i < 40; i++) {
        sprintf(text + strlen(text), "%c%c,", 'a' + i / 26, 'a' + i % 26);
    }
    memset(text + strlen(text), 'x', COUNTER_NAME_SIZE);
    assert_int_equal(counter_events_parse(&list, text), 40 - COUNTER_EVENTS_MAX + 1);
    assert_int_equal(list.count, COUNTER_EVENTS_MAX);
}

static void test_components(void **state)
{
    (void)state;
    counter_events_parse(&list, "PAPI_TOT_INS,rapl:::X,skx_unc_imc0::Y");
    assert_true(counter_events_need("perf_event", &list));
    assert_true(counter_events_need("perf_event", NULL));
    assert_true(counter_events_need("rapl", &list));
    assert_true(counter_events_need("perf_event_uncore", &list));
    assert_false(counter_events_need("rap", &list));
    assert_false(counter_events_need("rocm_smi", &list));
}

/* Of the events asked for, those that exist; a set's events stand together. */
static int open_fake(void **state)
{
    (void)state;
    setenv("APAPI_PAPI_LIBRARY", FAKE_COUNTERS, 1);
    assert_int_equal(counters_open("PAPI_TOT_INS,fake:::power,NO_SUCH,fake:::steps=delta,EXTRA,"
                                   "EXTRA,perf::TASK-CLOCK"),
                     5);
    return 0;
}

static void test_events_that_exist(void **state)
{
    (void)state;
    list = *counters_events();
    assert_list("PAPI_TOT_INS EXTRA perf::TASK-CLOCK fake:::power! fake:::steps ");
    assert_int_equal(counters_open("PAPI_VEC_DP"), 5); /* the first call decides */
}

static void read_twice(const struct counters_thread *thread, long long *delta)
{
    long long first[5];

    assert_true(counters_read(thread, first));
    assert_true(counters_read(thread, delta));
    for (int i = 0; i < 5; i++) {
        delta[i] -= first[i];
    }
}

static void *count_in_thread(void *context)
{
    struct counters_thread *thread = counters_thread_begin();

    assert_non_null(thread);
    read_twice(thread, context);
    counters_thread_end(thread);
    return NULL;
}

static void test_each_thread_counts_for_itself(void **state)
{
    static const long long expected[] = {20, 50, 10, 0, 60};
    long long deltas[4][5];
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_in_thread, deltas[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_memory_equal(deltas[i], expected, sizeof expected);
    }
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

static void test_nothing_is_left(void **state)
{
    struct counters_thread *thread;

    (void)state;
    counters_thread_end(NULL);
    thread = counters_thread_begin();
    assert_non_null(thread);
    assert_int_equal(of_fake("fake_counters_sets")(NULL), 2);
    counters_thread_end(thread);
    assert_int_equal(of_fake("fake_counters_sets")(NULL), 0);
}

static void test_other_components_are_off(void **state)
{
    (void)state;
    assert_int_equal(of_fake("fake_counters_disabled")("other"), 1);
    assert_int_equal(of_fake("fake_counters_disabled")("fake"), 0);
    assert_int_equal(of_fake("fake_counters_disabled")("perf_event"), 0);
}

static void test_failing_reading(void **state)
{
    struct counters_thread *thread = counters_thread_begin();
    long long values[5];

    (void)state;
    assert_true(counters_read(thread, values));
    setenv("FAKE_COUNTERS_FAIL", "1", 1);
    assert_false(counters_read(thread, values));
    unsetenv("FAKE_COUNTERS_FAIL");
    counters_thread_end(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_as_in_the_environment),
        cmocka_unit_test(test_instant_is_for_its_event_alone),
        cmocka_unit_test(test_gauges_are_instant),
        cmocka_unit_test(test_too_many_and_too_long),
        cmocka_unit_test(test_components),
        cmocka_unit_test(test_events_that_exist),
        cmocka_unit_test(test_each_thread_counts_for_itself),
        cmocka_unit_test(test_nothing_is_left),
        cmocka_unit_test(test_other_components_are_off),
        cmocka_unit_test(test_failing_reading),
    };

    return cmocka_run_group_tests(tests, open_fake, NULL);
}
