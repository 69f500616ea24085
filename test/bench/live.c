/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a figure of the live page while it is written, against the loads alone. */
#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "session/live.h"

#define READS 100000
#define READ_LIMIT 2.0
#define WRITE_PAUSE_NS 1000000 /* as often as anything is read at all */

static struct apapi_live_slot slot;
static atomic_bool stop;
static volatile double sink; /* the reads must not be optimised away */

static void *write_slot(void *unused)
{
    struct apapi_live_slot figures = {.flags = APAPI_LIVE_MEASURED};

    while (!atomic_load(&stop)) {
        figures.total += 1;
        live_slot_write(&slot, &figures);
        bench_sleep(WRITE_PAUSE_NS, 0);
    }
    return unused;
}

static double run_read(void *unused)
{
    struct apapi_live_slot copy;

    (void)unused;
    BENCH_TIMED(
        clock_thread_cpu_ns, READS, 1, if (apapi_live_read(&slot, &copy)) { sink = copy.total; });
}

static double run_bare(void *unused)
{
    const apapi_live_word *words = (const apapi_live_word *)(const void *)&slot;
    struct apapi_live_slot copy;
    apapi_live_word *to = (apapi_live_word *)(void *)&copy;

    (void)unused;
    BENCH_TIMED(clock_thread_cpu_ns, READS, 1, {
        for (size_t word = 0; word < sizeof slot / sizeof *words; word++) {
            to[word] = __atomic_load_n(words + word, __ATOMIC_RELAXED);
        }
        sink = copy.total;
    });
}

void bench_live(struct bench_table *table)
{
    const struct bench_row row = {.what = "live page: reading one figure",
                                  .unit = "ns",
                                  .pairs = 251,
                                  .quick_pairs = 21,
                                  .limit = READ_LIMIT};
    pthread_t writer;

    atomic_store(&stop, false);
    if (pthread_create(&writer, NULL, write_slot, NULL)) {
        bench_die("no thread");
    }
    bench_compare(table, row, (struct bench_side){run_read, NULL},
                  (struct bench_side){run_bare, NULL}, BENCH_NO_YARDSTICK);
    atomic_store(&stop, true);
    pthread_join(writer, NULL);
    bench_live_tick(table);
}
