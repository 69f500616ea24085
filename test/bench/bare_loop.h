/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_BARE_LOOP_H
#define BENCH_BARE_LOOP_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "bench/meters.h"
#include "bench/stamps.h"

/** A thread that sleeps until each deadline and reads the files: the least that can sample. */
struct bare_loop {
    const struct bench_meters *meters;
    uint64_t interval_ns;
    struct stamps *stamps; /* of each waking; NULL: not wanted */
    pthread_t thread;
    atomic_bool stop;
};

void bare_loop_start(struct bare_loop *loop);

void bare_loop_stop(struct bare_loop *loop);

#endif
