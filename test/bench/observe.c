/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a program's regions in a reading: 64 of them, in 32 threads. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "regions/observe/observe.h"
#include "regions/observe/observer.h"
#include "session/live.h"

#define THREADS 32
#define REGIONS 64
#define PASSES 100
#define LIMIT 6

static struct apapi_live_page live;
static struct page_program *program_page;
static struct observer *observer;

static void bench_fill_page(void)
{
    struct page_head *head = &program_page->head;

    memcpy(head->magic, PAGE_MAGIC, sizeof head->magic);
    head->version = PAGE_VERSION;
    head->size = sizeof *program_page;
    head->clock = PAGE_CLOCK_MONOTONIC;
    head->node_count = REGIONS + 1;
    head->thread_count = THREADS;
    for (uint32_t i = 1; i <= REGIONS; i++) {
        snprintf(program_page->nodes[i].name, PAGE_NAME_SIZE, "region %u", i);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        program_page->slots[i].entered = clock_monotonic_ns();
    }
}

/* Let each thread be in each region, and let both domains count. */
static void bench_move(void)
{
    uint64_t now_ns = clock_monotonic_ns();

    for (size_t i = 0; i < THREADS; i++) {
        for (size_t k = 1; k <= REGIONS; k++) {
            program_page->slots[i].own[k] += 10 * (1 + (i + k) % 7);
        }
        program_page->slots[i].entered = now_ns;
        program_page->slots[i].current = (uint32_t)(i + now_ns % REGIONS) % REGIONS + 1;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        live.domains[d].time_ns = now_ns;
        live.domains[d].total += 1;
    }
}

/* Only the reading is timed. @return time of a reading [us] */
static double run_readings(void *unused)
{
    uint64_t sum_ns = 0;

    (void)unused;
    for (int i = 0; i < PASSES; i++) {
        uint64_t start_ns;

        bench_move();
        start_ns = clock_monotonic_ns();
        observe_reading(&live, observer);
        sum_ns += clock_monotonic_ns() - start_ns;
    }
    return (double)sum_ns / PASSES / 1e3;
}

static volatile double observe_sink; /* so that the sums are not optimized away */

/* The yardstick: each region's time in each thread, times a power. @return time of the sums [us] */
static double run_sums(void *unused)
{
    uint64_t start_ns = clock_monotonic_ns();

    (void)unused;
    for (int pass = 0; pass < PASSES; pass++) {
        double sum_j = 0;

        for (size_t i = 0; i < THREADS; i++) {
            for (size_t k = 1; k <= REGIONS; k++) {
                sum_j += (double)program_page->slots[i].own[k] * 1e-9;
            }
        }
        observe_sink = sum_j;
    }
    return (double)(clock_monotonic_ns() - start_ns) / PASSES / 1e3;
}

static void bench_observe_begin(void)
{
    struct observed *program = calloc(1, sizeof *program);

    program_page = calloc(1, sizeof *program_page);
    live_page_init(&live);
    live.head.start_ns = clock_monotonic_ns();
    for (int d = APAPI_DOMAIN_PACKAGE; d <= APAPI_DOMAIN_DRAM; d++) {
        live.domains[d].flags = APAPI_LIVE_MEASURED;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        live.domains[d].total = 0;
    }
    observer = observe_create(&live);
    if (!program || !program_page || !observer) {
        bench_die("no memory");
    }
    bench_fill_page();
    observed_begin(program, program_page);
    if (observe_add(observer, program)) {
        bench_die("a program with regions");
    }
}

void bench_observe(struct bench_table *table)
{
    bench_observe_begin();
    bench_compare(table,
                  (struct bench_row){"tick with 64 regions of 32 threads", "us", 101, 5, LIMIT},
                  NULL, run_readings, NULL, run_sums);
    observe_destroy(observer);
    free(program_page);
}
