/* SPDX-License-Identifier: BSD-3-Clause */
/* How evenly a worker wakes up, against a thread that only sleeps and reads. */
#include <time.h>

#include "base/clock.h"
#include "bench/bare_loop.h"
#include "bench/meters.h"
#include "bench/parts.h"
#include "session/sampling.h"

#define EVENTS 8
#define INTERVAL_NS UINT64_C(5000000)
#define LENGTH_NS 100000000
#define PAIRS 251
#define QUICK_PAIRS 3
#define SPREAD_LIMIT 1.2

static struct stamps stamps;

/* Readings at the interval only: those of probes are at random moments. */
static void stamp(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    (void)context;
    stamps_add(&stamps);
}

struct beating {
    struct bench_meters meters;
    struct sampling *sampling;
    struct bare_loop bare;
    struct timespec length;
};

static void beating_create(struct beating *beating)
{
    beating->length.tv_sec = 0;
    beating->length.tv_nsec = LENGTH_NS;
    bench_meters_create(&beating->meters, EVENTS);
    beating->sampling = sampling_create(1, NULL);
    if (!beating->sampling) {
        bench_die("no memory");
    }
    bench_meters_open(&beating->meters, beating->sampling->components, INTERVAL_NS);
    beating->sampling->common.on_sample = stamp;
    beating->bare = (struct bare_loop){&beating->meters, INTERVAL_NS, &stamps, 0, false};
}

static void beating_destroy(struct beating *beating)
{
    sampling_end(beating->sampling);
    bench_meters_destroy(&beating->meters);
}

static double run_sampling(void *context)
{
    struct beating *beating = context;

    stamps.count = 0;
    if (sampling_start(beating->sampling)) {
        bench_die("no worker");
    }
    clock_nanosleep(CLOCK_MONOTONIC, 0, &beating->length, NULL);
    sampling_stop(beating->sampling);
    stamps.count--; /* the reading of the stop is no tick */
    return stamps_spread_us(&stamps, 1);
}

static double run_bare(void *context)
{
    struct beating *beating = context;

    stamps.count = 0;
    bare_loop_start(&beating->bare);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &beating->length, NULL);
    bare_loop_stop(&beating->bare);
    return stamps_spread_us(&stamps, 0);
}

void bench_period(struct bench_table *table, bool quick)
{
    struct bench_row *row =
        bench_table_add(table, (struct bench_row){.what = "spread of the period at 5 ms, 8 events",
                                                  .unit = "us",
                                                  .limit = SPREAD_LIMIT});
    struct beating beating;

    beating_create(&beating);
    bench_compare(row, quick ? QUICK_PAIRS : PAIRS, (struct bench_side){run_sampling, &beating},
                  (struct bench_side){run_bare, &beating});
    beating_destroy(&beating);
}
