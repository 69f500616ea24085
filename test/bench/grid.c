/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In how many different milliseconds of each 10 several users' sessions at 10 ms read one meter:
 * with min_interval, by which they read together, against without it.
 */
#include <stdatomic.h>

#include "apapi/session.h"
#include "base/clock.h"
#include "bench/bench.h"
#include "bench/meters.h"

#define SESSIONS 8
#define NS_PER_MS UINT64_C(1000000)
#define INTERVAL_NS (10 * NS_PER_MS)
#define APART_NS 1300000 /* between the starts of two sessions */
#define WINDOWS_MAX 256
#define RUN_WINDOWS 100
#define QUICK_WINDOWS 10

/* The meter has been read in millisecond N of a window: bit N. */
static _Atomic unsigned windows[WINDOWS_MAX];
static _Atomic uint64_t begin_ns; /* of the first window */

struct crowd {
    uint64_t min_interval_ns;
    size_t window_count;
};

static void grid_note(const struct apapi_sample *sample, void *context)
{
    uint64_t now_ns = clock_monotonic_ns(), start_ns = atomic_load(&begin_ns);
    uint64_t window = now_ns > start_ns ? (now_ns - start_ns) / INTERVAL_NS : WINDOWS_MAX;

    (void)sample;
    (void)context;
    if (start_ns > 0 && window < WINDOWS_MAX) {
        atomic_fetch_or(&windows[window], 1U << (now_ns % INTERVAL_NS / NS_PER_MS));
    }
}

static struct apapi_session *grid_session(const struct crowd *crowd)
{
    const struct apapi_intervals intervals = {.default_ns = INTERVAL_NS};
    const struct apapi_session_config config = {.components = "rapl",
                                                .sources = "sysfs",
                                                .intervals = &intervals,
                                                .min_interval_ns = crowd->min_interval_ns,
                                                .on_sample = grid_note};
    struct apapi_session *session = apapi_session_create(&config, NULL);

    if (!session) {
        bench_die("no session");
    }
    return session;
}

static double grid_mean(size_t count)
{
    unsigned sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (unsigned)__builtin_popcount(atomic_exchange(&windows[i], 0));
    }
    return (double)sum / (double)count;
}

/* First and last readings, which no grid moves, lie outside the windows. */
static double grid_run(void *context)
{
    const struct crowd *crowd = context;
    struct apapi_session *sessions[SESSIONS];
    uint64_t now_ns;

    for (size_t i = 0; i < SESSIONS; i++) {
        sessions[i] = grid_session(crowd);
        if (apapi_session_start(sessions[i], 0, NULL)) {
            bench_die("a session does not start");
        }
        bench_sleep(APART_NS, 0);
    }
    bench_sleep(2 * INTERVAL_NS, 0);
    now_ns = clock_monotonic_ns();
    atomic_store(&begin_ns, now_ns - now_ns % INTERVAL_NS + INTERVAL_NS);
    bench_sleep((crowd->window_count + 2) * INTERVAL_NS, 0);
    atomic_store(&begin_ns, 0);
    for (size_t i = 0; i < SESSIONS; i++) {
        apapi_session_stop(sessions[i], NULL);
        apapi_session_destroy(sessions[i]);
    }
    return grid_mean(crowd->window_count);
}

void bench_grid(struct bench_table *table)
{
    const struct bench_row row = {
        .what = "ms of 10 in which 8 sessions read", .unit = "ms", .pairs = 11, .quick_pairs = 1};
    size_t count = table->quick ? QUICK_WINDOWS : RUN_WINDOWS;
    struct crowd together = {INTERVAL_NS, count}, apart = {0, count};
    struct bench_meters meters;

    bench_meters_create(&meters, 1);
    bench_compare(table, row, (struct bench_side){grid_run, &together},
                  (struct bench_side){grid_run, &apart}, BENCH_NO_YARDSTICK);
    bench_meters_destroy(&meters);
}
