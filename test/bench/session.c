/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time of a session, and spread of its period, compared with a thread that sleeps and reads.
 */
#include "apapi/session.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meters.h"
#include "session/sampling.h"

#define EVENTS 8
#define CPU_INTERVAL_NS UINT64_C(1000000)
#define CPU_LENGTH_NS UINT64_C(500000000) /* length of one run; with --quick, half of it */
#define CPU_LIMIT 1.35
#define SPREAD_INTERVAL_NS UINT64_C(5000000)
#define SPREAD_LENGTH_NS 100000000
#define SPREAD_LIMIT 1.2
#define STAMPS_MAX 1024

/* State of both sides; the bare loop is the least that can sample. */
struct running {
    struct bench_meters meters;
    struct apapi_session *session;
    struct sampling *sampling; /* NULL: no stamps are wanted */
    uint64_t length_ns, interval_ns;
    pthread_t thread;
    atomic_bool stop;
};

/* Times at which something happened. */
static uint64_t stamps_ns[STAMPS_MAX];
static size_t stamp_count;

static void add_stamp(void)
{
    if (stamp_count < STAMPS_MAX) {
        stamps_ns[stamp_count++] = clock_monotonic_ns();
    }
}

/* @return the standard deviation of the periods between `first` and the last stamp [us]. */
static double spread_us(size_t first)
{
    size_t end = stamp_count ? stamp_count - 1 : 0;
    double sum = 0, squares = 0;

    if (end < first + 2) {
        return NAN;
    }
    for (size_t i = first; i < end; i++) {
        double period_us = (double)(stamps_ns[i + 1] - stamps_ns[i]) / 1e3;

        sum += period_us;
        squares += period_us * period_us;
    }
    return sqrt((squares - sum * sum / (double)(end - first)) / (double)(end - first - 1));
}

static void *sleep_and_read(void *argument)
{
    struct running *running = argument;
    uint64_t deadline_ns = clock_monotonic_ns();

    while (!atomic_load(&running->stop)) {
        deadline_ns += running->interval_ns;
        bench_sleep(deadline_ns, TIMER_ABSTIME);
        if (running->sampling) {
            add_stamp();
        }
        bench_meters_read(&running->meters);
    }
    return NULL;
}

static void run_bare(struct running *running)
{
    atomic_store(&running->stop, false);
    if (pthread_create(&running->thread, NULL, sleep_and_read, running)) {
        bench_die("no thread for the bare loop");
    }
    bench_sleep(running->length_ns, 0);
    atomic_store(&running->stop, true);
    pthread_join(running->thread, NULL);
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
    bench_sleep(running->length_ns, 0);
    apapi_session_stop(running->session, NULL);
    return us_per_s(before_ns, running);
}

static double run_bare_loop(void *running)
{
    uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    run_bare(running);
    return us_per_s(before_ns, running);
}

void bench_session(struct bench_table *table)
{
    const struct apapi_intervals intervals = {.default_ns = CPU_INTERVAL_NS};
    const struct apapi_session_config config = {
        .components = "rapl", .sources = "sysfs", .intervals = &intervals};
    const struct bench_row row = {"CPU time at 1000 Hz, 8 events", "us/s", 31, 5, CPU_LIMIT};
    struct running running = {.length_ns = CPU_LENGTH_NS / (table->quick ? 2 : 1),
                              .interval_ns = CPU_INTERVAL_NS};

    bench_meters_create(&running.meters, EVENTS);
    running.session = apapi_session_create(&config, NULL);
    if (!running.session) {
        bench_die("no session");
    }
    bench_compare(table, row, &running, run_session, run_bare_loop, NULL);
    apapi_session_destroy(running.session);
    bench_meters_destroy(&running.meters);
}

/* --- the period ------------------------------------------------------------------------------- */

/* Stamp readings at the interval only: those of probes are at random moments. */
static void stamp(const struct apapi_sample *sample, void *context)
{
    (void)sample;
    (void)context;
    add_stamp();
}

static double spread_of_sampling(void *context)
{
    struct running *running = context;

    stamp_count = 0;
    if (sampling_start(running->sampling)) {
        bench_die("no worker");
    }
    bench_sleep(running->length_ns, 0);
    sampling_stop(running->sampling);
    stamp_count--; /* the reading at the stop is no tick */
    return spread_us(1);
}

static double spread_of_bare_loop(void *running)
{
    stamp_count = 0;
    run_bare(running);
    return spread_us(0);
}

void bench_period(struct bench_table *table)
{
    const struct bench_row row = {"spread of the period at 5 ms, 8 events", "us", 251, 3,
                                  SPREAD_LIMIT};
    struct running running = {.length_ns = SPREAD_LENGTH_NS, .interval_ns = SPREAD_INTERVAL_NS};

    bench_meters_create(&running.meters, EVENTS);
    running.sampling = sampling_create(1, NULL);
    if (!running.sampling) {
        bench_die("no memory");
    }
    bench_meters_open(&running.meters, running.sampling->components, SPREAD_INTERVAL_NS);
    running.sampling->common.on_sample = stamp;
    bench_compare(table, row, &running, spread_of_sampling, spread_of_bare_loop, NULL);
    sampling_end(running.sampling);
    bench_meters_destroy(&running.meters);
}
