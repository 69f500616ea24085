/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of several threads and its observer, in one process: for ThreadSanitizer. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "regions/observe/observe.h"
#include "regions/observe/observer.h"
#include "regions/program.h"
#include "unit/region_fixture.h"

#define THREADS 6
#define ROUNDS 3
#define PASSES 4000

static struct observer *observer; /* observes by the socket, with its own mapping */
static struct observer *direct;   /* observes the memory that the program writes */
static atomic_bool over;
static atomic_uint running;
static atomic_uint readings;

/* Wait for a whole reading from here on: the reader may not have had a processor so far. */
static void wait_for_a_reading(void)
{
    unsigned begun = readings;

    while (readings < begun + 2) {
        sched_yield();
    }
}

static void *program_work(void *unused)
{
    apapi_region inner = apapi_region_handle("inner");

    for (int i = 0; i < PASSES; i++) {
        assert_int_equal(apapi_region_begin("outer"), 0);
        if (i == PASSES / 2) { /* so that regions have time between two readings */
            wait_for_a_reading();
        }
        assert_int_equal(apapi_region_enter(inner), 0);
        assert_int_equal(apapi_region_leave(inner), 0);
        assert_int_equal(apapi_region_end("outer"), 0);
    }
    running--;
    return unused;
}

/* The thread that reads the meters. */
static void *read_meters(void *unused)
{
    struct apapi_live_slot figures = {.flags = APAPI_LIVE_MEASURED};

    while (!over) {
        figures.time_ns = clock_monotonic_ns();
        figures.total += 0.01;
        live_slot_write(&measured.page->domains[APAPI_DOMAIN_PACKAGE], &figures);
        observe_reading(measured.page, observer);
        observe_reading(measured.page, direct);
        readings++;
    }
    return unused;
}

/* Publishing takes 1 % of a processor at most. */
static uint64_t published_ns, pauses_ns;

static void work_and_serve(struct serve *serve)
{
    pthread_t threads[THREADS];

    running = THREADS;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, program_work, NULL), 0);
    }
    while (running > 0) {
        uint64_t start_ns = measured.page->head.start_ns, cpu_ns;

        serve_work(serve);
        cpu_ns = clock_thread_cpu_ns();
        pauses_ns += observe_publish(observer, start_ns) - start_ns - 1000000000;
        published_ns += clock_thread_cpu_ns() - cpu_ns;
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
}

static uint64_t count_of(struct observer *of, const char *path, double *all_j)
{
    struct apapi_measurement m = {0};
    struct apapi_regions regions;
    uint64_t count = 0;

    assert_int_equal(observe_result(of, &m, &regions), 0);
    *all_j = 0;
    for (size_t i = 0; i < regions.count; i++) {
        double energy_j = regions.list[i].domains[APAPI_DOMAIN_PACKAGE].energy_j;

        count += strcmp(regions.list[i].path, path) == 0 ? regions.list[i].count : 0;
        *all_j += isnan(energy_j) ? 0 : energy_j;
    }
    apapi_regions_clear(&regions);
    return count;
}

static struct observed *look_directly(void)
{
    struct observed *observed = calloc(1, sizeof(*observed));

    assert_non_null(observed);
    assert_int_equal(apapi_region_begin("first"), 0); /* the program has a page from now on */
    assert_int_equal(apapi_region_end("first"), 0);
    observed_begin(observed, program.page);
    assert_int_equal(observe_add(direct, observed), 0);
    return observed;
}

static void make_page_only(void)
{
    make_base();
    descriptors_before++; /* the program keeps the descriptor from the sampler */
    measured.listener = -1;
    make_page();
    setenv(APAPI_LIVE_ENVIRONMENT, measured.path, 1);
}

TEST_WITH(threads_are_seen_while_they_work, make_page_only, remove_step)
{
    struct serve *serve;
    struct observed *observed;
    double by_socket_j, directly_j;
    pthread_t reader;

    measured.page->head.start_ns = clock_monotonic_ns();
    measured.page->domains[APAPI_DOMAIN_PACKAGE].flags = APAPI_LIVE_MEASURED;
    observer = observe_create(measured.page);
    direct = observe_create(measured.page);
    serve = serve_open(measured.path, geteuid(), observer, NULL);
    assert_true(observer && direct && serve);
    observed = look_directly();
    assert_int_equal(pthread_create(&reader, NULL, read_meters, NULL), 0);
    wait_for_a_reading();
    for (int i = 0; i < ROUNDS; i++) {
        work_and_serve(serve);
    }
    over = true;
    pthread_join(reader, NULL);
    serve_close(serve);
    observe_remove(direct, observed);
    assert_int_equal(count_of(observer, "outer/inner", &by_socket_j), ROUNDS * THREADS * PASSES);
    assert_int_equal(count_of(direct, "outer", &directly_j), ROUNDS * THREADS * PASSES);
    assert_true(by_socket_j > 0 && directly_j > 0);
    assert_true(published_ns > 0 && pauses_ns >= 50 * published_ns);
    observe_destroy(observer);
    observe_destroy(direct);
}
