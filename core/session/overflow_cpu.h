/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_CPU_H
#define SESSION_OVERFLOW_CPU_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "session/overflow_parts.h"
#include "sources/sources.h"

/*
 * Thresholds that PAPI counts. A signal in the thread that is counted notes where it was, in a ring
 * that nobody else writes; the thread that calls handlers reads it.
 */

#define OVERFLOW_RING 64 /* interrupts that a handler may be behind; further ones are counted */

struct overflow_interrupt {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t vector;
    uint64_t lost; /* before it, that did not fit into the ring */
    void *address;
    ucontext_t context;
};

struct overflow_cpu {
    struct overflows *overflows;
    int number;
    double threshold;
    uint64_t told; /* interrupts */
    struct source_overflow_counter *counter;
    atomic_uint written, read;
    uint64_t lost; /* the signal's */
    struct overflow_interrupt ring[OVERFLOW_RING];
};

/** @return whether `what` is for PAPI. */
static inline bool overflow_is_cpu(const struct apapi_overflow *what)
{
    return (what->mode & (APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE)) != 0;
}

/** Is it a threshold that PAPI can count? 0; -1 with errno EINVAL, ERANGE. */
int overflow_cpu_check(const struct apapi_overflow *what, struct apapi_error *err);

/** Count in the calling thread from now on. @return NULL with errno as source_overflow.begin. */
struct overflow_cpu *overflow_cpu_begin(struct overflows *overflows, int number,
                                        const struct apapi_overflow *what, struct apapi_error *err);

/** @return whether it counts the calling thread. */
bool overflow_cpu_is_mine(const struct overflow_cpu *cpu);

/** Count no longer. NULL is allowed, and one that has ended. */
void overflow_cpu_end(struct overflow_cpu *cpu);

/** @return the oldest interrupt that has not been told; NULL: none. */
const struct overflow_interrupt *overflow_cpu_next(const struct overflow_cpu *cpu);

/** That has been copied. */
void overflow_cpu_took(struct overflow_cpu *cpu);

#endif
