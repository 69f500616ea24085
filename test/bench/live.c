/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a figure of the live page while it is written, against the loads alone. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "bench/parts.h"
#include "session/live.h"

#define READS 100000
#define PAIRS 251
#define QUICK_PAIRS 21
#define READ_LIMIT 2.0
#define WRITE_PAUSE_NS 1000000 /* as often as anything is read at all */

static struct apapi_live_slot slot;
static atomic_bool stop;
static volatile double sink; /* the reads must not be optimised away */

static void *write_slot(void *unused)
{
    const struct timespec pause = {.tv_nsec = WRITE_PAUSE_NS};
    struct apapi_live_slot figures = {.flags = APAPI_LIVE_MEASURED};

    while (!atomic_load(&stop)) {
        figures.total += 1;
        live_slot_write(&slot, &figures);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return unused;
}

static double run_read(void *unused)
{
    uint64_t start_ns = clock_thread_cpu_ns();

    (void)unused;
    for (int i = 0; i < READS; i++) {
        struct apapi_live_slot copy;

        if (apapi_live_read(&slot, &copy)) {
            sink = copy.total;
        }
    }
    return (double)(clock_thread_cpu_ns() - start_ns) / READS;
}

static double run_bare(void *unused)
{
    const apapi_live_word *words = (const apapi_live_word *)(const void *)&slot;
    uint64_t start_ns = clock_thread_cpu_ns();

    (void)unused;
    for (int i = 0; i < READS; i++) {
        struct apapi_live_slot copy;
        apapi_live_word *to = (apapi_live_word *)(void *)&copy;

        for (size_t word = 0; word < sizeof slot / sizeof *words; word++) {
            to[word] = __atomic_load_n(words + word, __ATOMIC_RELAXED);
        }
        sink = copy.total;
    }
    return (double)(clock_thread_cpu_ns() - start_ns) / READS;
}

void bench_live(struct bench_table *table, bool quick)
{
    struct bench_row *row = bench_table_add(
        table, (struct bench_row){
                   .what = "live page: reading one figure", .unit = "ns", .limit = READ_LIMIT});
    pthread_t writer;

    atomic_store(&stop, false);
    if (pthread_create(&writer, NULL, write_slot, NULL)) {
        bench_die("no thread");
    }
    bench_compare(row, quick ? QUICK_PAIRS : PAIRS, (struct bench_side){run_read, NULL},
                  (struct bench_side){run_bare, NULL});
    atomic_store(&stop, true);
    pthread_join(writer, NULL);
    bench_live_tick(table, quick);
}
