/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of a process while a session runs in it, against a thread that only sleeps and reads. */
#include <stdio.h>
#include <time.h>

#include "apapi/session.h"
#include "base/array.h"
#include "base/clock.h"
#include "bench/bare_loop.h"
#include "bench/meters.h"
#include "bench/parts.h"

#define EVENTS 8
#define LIMIT_1000_HZ 1.35

struct sampled {
    uint64_t rate_hz;
    double limit;
    uint64_t length_ns, quick_length_ns; /* of one run */
    size_t pairs, quick_pairs;
};

static const struct sampled rates[] = {
    {10, 0, 1000000000, 200000000, 21, 1},
    {100, 0, 500000000, 50000000, 21, 3},
    {1000, LIMIT_1000_HZ, 100000000, 50000000, 151, 5},
};

struct running {
    struct bench_meters meters;
    struct apapi_session *session;
    struct bare_loop bare;
    uint64_t length_ns;
};

static void wait_ns(uint64_t length_ns)
{
    const struct timespec length = {.tv_sec = (time_t)(length_ns / NS_PER_S),
                                    .tv_nsec = (long)(length_ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

static double us_per_s(uint64_t cpu_before_ns, const struct running *running)
{
    uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before_ns;

    return (double)cpu_ns / 1e3 / ((double)running->length_ns / 1e9);
}

static double run_session(void *context)
{
    struct running *running = context;
    uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    if (apapi_session_start(running->session, 0, NULL)) {
        bench_die("the session does not start");
    }
    wait_ns(running->length_ns);
    apapi_session_stop(running->session, NULL);
    return us_per_s(before_ns, running);
}

static double run_bare(void *context)
{
    struct running *running = context;
    uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    bare_loop_start(&running->bare);
    wait_ns(running->length_ns);
    bare_loop_stop(&running->bare);
    return us_per_s(before_ns, running);
}

static void compare_at(struct bench_table *table, const struct sampled *rate,
                       struct running *running, bool quick)
{
    struct bench_row *row =
        bench_table_add(table, (struct bench_row){.unit = "us/s", .limit = rate->limit});
    const struct apapi_intervals intervals = {.default_ns = NS_PER_S / rate->rate_hz};
    const struct apapi_session_config config = {
        .components = "rapl", .sources = "sysfs", .intervals = &intervals};

    snprintf(row->what, sizeof row->what, "CPU time at %d Hz, %d events", (int)rate->rate_hz,
             EVENTS);
    running->length_ns = quick ? rate->quick_length_ns : rate->length_ns;
    running->bare = (struct bare_loop){&running->meters, intervals.default_ns, NULL, 0, false};
    running->session = apapi_session_create(&config, NULL);
    if (!running->session) {
        bench_die("no session");
    }
    bench_compare(row, quick ? rate->quick_pairs : rate->pairs,
                  (struct bench_side){run_session, running},
                  (struct bench_side){run_bare, running});
    apapi_session_destroy(running->session);
}

void bench_session(struct bench_table *table, bool quick)
{
    struct running running;

    bench_meters_create(&running.meters, EVENTS);
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        compare_at(table, &rates[i], &running, quick);
    }
    bench_meters_destroy(&running.meters);
}
