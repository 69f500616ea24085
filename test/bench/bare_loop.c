/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bare_loop.h"

#include <time.h>

#include "base/clock.h"
#include "bench/compare.h"

static void sleep_until(uint64_t deadline_ns)
{
    const struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                                      .tv_nsec = (long)(deadline_ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
}

static void *run(void *argument)
{
    struct bare_loop *loop = argument;
    uint64_t deadline_ns = clock_monotonic_ns();

    while (!atomic_load(&loop->stop)) {
        deadline_ns += loop->interval_ns;
        sleep_until(deadline_ns);
        if (loop->stamps) {
            stamps_add(loop->stamps);
        }
        bench_meters_read(loop->meters);
    }
    return NULL;
}

void bare_loop_start(struct bare_loop *loop)
{
    atomic_store(&loop->stop, false);
    if (pthread_create(&loop->thread, NULL, run, loop)) {
        bench_die("no thread for the bare loop");
    }
}

void bare_loop_stop(struct bare_loop *loop)
{
    atomic_store(&loop->stop, true);
    pthread_join(loop->thread, NULL);
}
