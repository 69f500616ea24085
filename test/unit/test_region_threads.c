/* SPDX-License-Identifier: BSD-3-Clause */
/* Many threads, many calls and names of any kind. */
#include <pthread.h>

#include "unit/region_fixture.h"

#define THREADS 32
#define PASSES 2000
#define NAMES 100000

static pthread_barrier_t together;

static void *first_call(void *unused)
{
    pthread_barrier_wait(&together);
    for (int i = 0; i < PASSES; i++) {
        CHECK(apapi_region_begin("outer") == 0);
        CHECK(apapi_region_begin(i % 2 ? "odd" : "even") == 0);
        CHECK(apapi_region_end(i % 2 ? "odd" : "even") == 0);
        CHECK(apapi_region_end("outer") == 0);
    }
    return unused;
}

static void many_threads(void)
{
    pthread_t threads[THREADS];

    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, first_call, NULL) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

IN_STEP(the_first_call_comes_from_many_threads_at_once)
{
    const struct page_program *page = run_quiet_program(many_threads);

    assert_int_equal(page_node_count(page), 4);
    assert_int_equal(count_of_region(page, "outer"), THREADS * PASSES);
    assert_int_equal(count_of_region(page, "outer/odd"), THREADS * PASSES / 2);
    assert_int_equal(count_of_region(page, "outer/even"), THREADS * PASSES / 2);
    assert_true(page_thread_count(page) <= THREADS);
}

static void *wait_and_go(void *unused)
{
    CHECK(apapi_region_begin("a") == 0);
    pthread_barrier_wait(&together);
    CHECK(apapi_region_end("a") == 0);
    return unused;
}

static void too_many_threads(void)
{
    static pthread_t threads[PAGE_THREADS + 5];
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    pthread_barrier_init(&together, NULL, COUNT_OF(threads));
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        CHECK(pthread_create(&threads[i], &attributes, wait_and_go, NULL) == 0);
    }
    for (size_t i = 0; i < COUNT_OF(threads); i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
    }
}

IN_STEP(threads_beyond_the_page_are_counted)
{
    const struct page_program *page = run_quiet_program(too_many_threads);

    assert_int_equal(page->head.threads_lost, 5);
    assert_int_equal(count_of_region(page, "a"), PAGE_THREADS);
}

static void many_names(void)
{
    char name[32];

    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "name %d", i);
        CHECK(apapi_region_begin(name) == 0 && apapi_region_end(name) == 0);
    }
}

IN_STEP(names_are_bounded_and_counted)
{
    const struct page_program *page = run_quiet_program(many_names);
    uint64_t rest = page_slot_count(page, 0, PAGE_REST);

    assert_int_equal(page_node_count(page), PAGE_REST);
    assert_int_equal(count_of_region(page, "name 0"), 1);
    assert_int_equal(rest, NAMES - (PAGE_REST - 1));
    assert_int_equal(page->head.names_lost, 2 * rest); /* begin and end */
}

static void names_of_any_bytes(void)
{
    static char longest[10241], other[10241];
    char buffer[8] = "first";

    memset(longest, 'x', sizeof longest - 1);
    memset(other, 'x', sizeof other - 1);
    other[230] = 'y';
    CHECK(apapi_region_begin("") == 0 && apapi_region_end("") == 0);
    CHECK(apapi_region_begin("a/b\\\n\xff\xc3\xa4") == 0);
    CHECK(apapi_region_end("a/b\\\n\xff\xc3\xa4") == 0);
    CHECK(apapi_region_begin(longest) == 0 && apapi_region_end(longest) == 0);
    CHECK(apapi_region_begin(other) == 0 && apapi_region_end(other) == 0);
    CHECK(apapi_region_begin(buffer) == 0 && apapi_region_end(buffer) == 0);
    strcpy(buffer, "second"); /* another name at the same address */
    CHECK(apapi_region_begin(buffer) == 0 && apapi_region_end(buffer) == 0);
}

IN_STEP(names_are_escaped_and_shortened)
{
    const struct page_program *page = run_quiet_program(names_of_any_bytes);

    assert_int_equal(page_node_count(page), 7);
    assert_string_equal(page->nodes[1].name, "\"\"");
    assert_string_equal(page->nodes[2].name, "a\\x2Fb\\x5C\\x0A\\xFF\xc3\xa4");
    assert_int_equal(strlen(page->nodes[3].name), PAGE_NAME_SIZE - 1);
    assert_non_null(strstr(page->nodes[3].name, "xxx...xxx"));
    assert_non_null(strchr(page->nodes[4].name, 'y')); /* what tells them apart is kept: the end */
    node_of(page, "first");
    node_of(page, "second");
}
