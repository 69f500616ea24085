/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow_cpu.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

int overflow_cpu_check(const struct apapi_overflow *what, struct apapi_error *err)
{
    const unsigned both = APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE;

    if (!what->event || !what->handler) {
        return apapi_fail(err, EINVAL, "a threshold needs an event and a handler");
    }
    if ((what->mode & both) == both || (what->mode & ~both) != APAPI_OVERFLOW_EVERY ||
        what->hold_ns > 0 || what->hysteresis != 0) {
        return apapi_fail(err, EINVAL, "%.100s: PAPI only counts every so many, in one way",
                          what->event);
    }
    if (!isfinite(what->threshold) || what->threshold <= 0) {
        return apapi_fail(err, EINVAL, "%.100s: the threshold %g is not above 0", what->event,
                          what->threshold);
    }
    if (what->threshold < 1 || what->threshold > INT_MAX) {
        return apapi_fail(err, ERANGE, "%.100s: PAPI takes thresholds from 1 to %d", what->event,
                          INT_MAX);
    }
    return 0;
}

/* --- in the signal ---------------------------------------------------------------------------- */

static void overflow_cpu_note(struct overflow_cpu *cpu, const struct overflow_interrupt *interrupt,
                              const void *context)
{
    unsigned written = atomic_load_explicit(&cpu->written, memory_order_relaxed);
    struct overflow_interrupt *entry = &cpu->ring[written % OVERFLOW_RING];

    if (written - atomic_load_explicit(&cpu->read, memory_order_acquire) == OVERFLOW_RING) {
        cpu->lost++;
        return;
    }
    *entry = *interrupt;
    entry->lost = cpu->lost;
    cpu->lost = 0;
    if (context) {
        entry->context = *(const ucontext_t *)context;
    }
#if defined(__x86_64__) || defined(__i386__)
    entry->context.uc_mcontext.fpregs = NULL; /* they lie on the signal's stack */
#endif
    atomic_store_explicit(&cpu->written, written + 1, memory_order_release);
}

/* Of the same session. */
static uint64_t overflow_cpu_vector(const struct overflows *overflows, void *const users[],
                                    size_t count)
{
    uint64_t vector = 0;

    for (size_t i = 0; i < count; i++) {
        const struct overflow_cpu *cpu = users[i];

        if (cpu->overflows == overflows) {
            vector |= UINT64_C(1) << cpu->number;
        }
    }
    return vector;
}

static void overflow_cpu_signal(void *const users[], size_t count, void *address,
                                const void *context)
{
    int saved = errno;

    for (size_t i = 0; i < count; i++) {
        struct overflow_cpu *cpu = users[i];
        struct overflows *overflows = cpu->overflows;
        const struct overflow_interrupt interrupt = {
            .time_ns = session_clock_now_ns(overflows->clock),
            .vector = overflow_cpu_vector(overflows, users, count),
            .address = address};

        overflow_cpu_note(cpu, &interrupt, context);
        sem_post(&overflows->semaphore);
    }
    errno = saved;
}

/* ---------------------------------------------------------------------------------------------- */

/* There is no PAPI, or it cannot be used. */
static int overflow_cpu_errno(int error)
{
    return error == ENOSYS || error == ENODEV || error == EACCES ? ENOTSUP : error;
}

struct overflow_cpu *overflow_cpu_begin(struct overflows *overflows, int number,
                                        const struct apapi_overflow *what, struct apapi_error *err)
{
    struct overflow_cpu *cpu = calloc(1, sizeof *cpu);
    const struct source_overflow_order order = {.event = what->event,
                                                .threshold = (int)what->threshold,
                                                .software =
                                                    (what->mode & APAPI_OVERFLOW_SOFTWARE) != 0,
                                                .handler = overflow_cpu_signal,
                                                .user = cpu};

    if (!cpu) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    cpu->overflows = overflows;
    cpu->number = number;
    cpu->threshold = (double)order.threshold;
    cpu->counter = apapi_route_overflow()->begin(&order, err);
    if (!cpu->counter) {
        int error = overflow_cpu_errno(errno);

        free(cpu);
        errno = error;
        return NULL;
    }
    return cpu;
}

bool overflow_cpu_is_mine(const struct overflow_cpu *cpu)
{
    return cpu->counter && apapi_route_overflow()->is_mine(cpu->counter);
}

void overflow_cpu_end(struct overflow_cpu *cpu)
{
    if (cpu && cpu->counter) {
        apapi_route_overflow()->end(cpu->counter);
        cpu->counter = NULL;
    }
}

const struct overflow_interrupt *overflow_cpu_next(const struct overflow_cpu *cpu)
{
    unsigned read = atomic_load_explicit(&cpu->read, memory_order_relaxed);

    return read == atomic_load_explicit(&cpu->written, memory_order_acquire)
               ? NULL
               : &cpu->ring[read % OVERFLOW_RING];
}

void overflow_cpu_took(struct overflow_cpu *cpu)
{
    atomic_fetch_add_explicit(&cpu->read, 1, memory_order_release);
}
