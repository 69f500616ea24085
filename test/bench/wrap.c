/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of making a 64-bit total of readings that wrap, against a subtraction and a sum. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "bench/parts.h"
#include "measure/counter.h"

#define READINGS 4096
#define RUNS_OVER 64
#define PAIRS 101
#define QUICK_PAIRS 11
#define RANGE_UJ UINT64_C(262143328850)
#define STEP_NS UINT64_C(1000000)
#define STEP_UJ UINT64_C(200000) /* 200 W */

struct wrapping {
    struct apapi_counter counter;
    uint64_t raws[READINGS];
    uint64_t now_ns;
    volatile uint64_t total;
};

/* The counter wraps a few times on the way through the readings. */
static void wrapping_create(struct wrapping *wrapping)
{
    const struct apapi_event event = {.range_max = RANGE_UJ / 1000,
                                      .scale = 1e-6,
                                      .kind = APAPI_KIND_ENERGY,
                                      .domain = APAPI_DOMAIN_PACKAGE,
                                      .accumulates = true};

    for (size_t i = 0; i < READINGS; i++) {
        wrapping->raws[i] = i * STEP_UJ % (event.range_max + 1);
    }
    apapi_counter_init(&wrapping->counter, &event, apapi_domain_max_w(event.domain));
    wrapping->now_ns = 0;
}

static double ns_per_reading(uint64_t start_ns)
{
    return (double)(clock_thread_cpu_ns() - start_ns) / (READINGS * RUNS_OVER);
}

static double run_counter(void *context)
{
    struct wrapping *wrapping = context;
    uint64_t start_ns = clock_thread_cpu_ns();

    for (int run = 0; run < RUNS_OVER; run++) {
        apapi_counter_restart(&wrapping->counter);
        for (size_t i = 0; i < READINGS; i++) {
            struct apapi_increment increment;

            wrapping->now_ns += STEP_NS;
            apapi_counter_add(&wrapping->counter, wrapping->raws[i], moment_at(wrapping->now_ns),
                              &increment);
        }
    }
    wrapping->total = wrapping->counter.total;
    return ns_per_reading(start_ns);
}

static double run_bare(void *context)
{
    struct wrapping *wrapping = context;
    uint64_t start_ns = clock_thread_cpu_ns();

    for (int run = 0; run < RUNS_OVER; run++) {
        uint64_t total = 0, last = wrapping->raws[0];

        for (size_t i = 0; i < READINGS; i++) {
            total += wrapping->raws[i] - last;
            last = wrapping->raws[i];
            __asm__ volatile("" : "+r"(total)); /* one after the other, not all at once */
        }
        wrapping->total = total;
    }
    return ns_per_reading(start_ns);
}

void bench_wrap(struct bench_table *table, bool quick)
{
    static struct wrapping wrapping;
    struct bench_row *row = bench_table_add(
        table, (struct bench_row){.what = "wrap-around check, one counter", .unit = "ns"});

    wrapping_create(&wrapping);
    bench_compare(row, quick ? QUICK_PAIRS : PAIRS, (struct bench_side){run_counter, &wrapping},
                  (struct bench_side){run_bare, &wrapping});
}
