/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow_deliver.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "sources/sources.h"

/* --- thresholds that PAPI counts -------------------------------------------------------------- */

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

int overflow_cpu_check(const struct apapi_overflow *what, struct apapi_error *err)
{
    const unsigned both = APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE;

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

static void overflow_cpu_signal(void *const users[], size_t count, void *address,
                                const void *context)
{
    int saved = errno;

    for (size_t i = 0; i < count; i++) {
        struct overflow_cpu *cpu = users[i];
        struct overflows *overflows = cpu->overflows;
        struct overflow_interrupt interrupt = {.time_ns = session_clock_now_ns(overflows->clock),
                                               .address = address};

        for (size_t k = 0; k < count; k++) {
            const struct overflow_cpu *other = users[k];

            interrupt.vector |= other->overflows == overflows ? UINT64_C(1) << other->number : 0;
        }
        overflow_cpu_note(cpu, &interrupt, context);
        sem_post(&overflows->semaphore);
    }
    errno = saved;
}

/* ---------------------------------------------------------------------------------------------- */

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
        int error = errno;

        free(cpu); /* there is no PAPI, or it cannot be used */
        errno = error == ENOSYS || error == ENODEV || error == EACCES ? ENOTSUP : error;
        return NULL;
    }
    return cpu;
}

bool overflow_cpu_is_mine(const struct overflow_cpu *cpu)
{
    return cpu && cpu->counter && apapi_route_overflow()->is_mine(cpu->counter);
}

void overflow_cpu_end(struct overflow_cpu *cpu)
{
    if (cpu && cpu->counter) {
        apapi_route_overflow()->end(cpu->counter);
        cpu->counter = NULL;
    }
}

/* The oldest interrupt that has not been told; NULL: none. */
static const struct overflow_interrupt *overflow_cpu_next(const struct overflow_cpu *cpu)
{
    unsigned read = atomic_load_explicit(&cpu->read, memory_order_relaxed);

    return read == atomic_load_explicit(&cpu->written, memory_order_acquire)
               ? NULL
               : &cpu->ring[read % OVERFLOW_RING];
}

/* --- handlers --------------------------------------------------------------------------------- */

/* @return the threshold with the oldest crossing, of readings or by PAPI; NULL: none has any. */
static struct overflow_slot *overflow_oldest(struct overflows *overflows, bool by_papi)
{
    struct overflow_slot *oldest = NULL;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        struct overflow_slot *slot = &overflows->slots[i];
        const struct overflow_interrupt *next =
            by_papi && slot->cpu ? overflow_cpu_next(slot->cpu) : NULL;
        uint64_t order = next ? next->time_ns : slot->order;

        if ((by_papi ? next != NULL : slot->news.count > 0) && order < least) {
            oldest = slot;
            least = order;
        }
    }
    return oldest;
}

static void overflow_free_if_left(struct overflow_slot *slot)
{
    if (slot->state == OVERFLOW_LEAVING && slot->news.count == 0 &&
        !(slot->cpu && overflow_cpu_next(slot->cpu))) {
        overflow_free_slot(slot);
    }
}

/* With the mutex, which is not held during the call. */
static void overflow_call(struct overflows *overflows, struct overflow_slot *slot,
                          struct apapi_overflow_crossing *crossing)
{
    const struct apapi_overflow what = slot->what;
    char event[APAPI_NAME_SIZE], unit[sizeof slot->unit];

    memcpy(event, slot->event, sizeof event);
    memcpy(unit, slot->unit, sizeof unit);
    crossing->event = event;
    crossing->unit = unit;
    crossing->overflow = (int)(slot - overflows->slots);
    overflows->telling = crossing->overflow;
    pthread_mutex_unlock(&overflows->mutex);
    what.handler(crossing, what.user);
    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflow_free_if_left(slot);
    overflows->clock->wake(overflows->clock, &overflows->changed);
}

/* Crossings of readings, then the oldest interrupt. @return whether there was anything. */
static bool overflow_tell_next(struct overflows *overflows)
{
    struct overflow_slot *slot = overflow_oldest(overflows, false);
    struct apapi_overflow_crossing crossing;
    struct overflow_interrupt interrupt;

    if (slot) {
        crossing = slot->news;
        slot->news.count = 0;
    } else if ((slot = overflow_oldest(overflows, true))) {
        interrupt = *overflow_cpu_next(slot->cpu);
        atomic_fetch_add_explicit(&slot->cpu->read, 1, memory_order_release);
        slot->cpu->told += interrupt.lost + 1;
        crossing = (struct apapi_overflow_crossing){.count = interrupt.lost + 1,
                                                    .value = (double)slot->cpu->told *
                                                             slot->cpu->threshold,
                                                    .time_ns = interrupt.time_ns,
                                                    .first_ns = interrupt.time_ns,
                                                    .seen_ns = interrupt.time_ns,
                                                    .vector = interrupt.vector,
                                                    .address = interrupt.address,
                                                    .context = &interrupt.context};
        crossing.seen_value = crossing.value;
    } else {
        return false;
    }
    overflow_call(overflows, slot, &crossing);
    return true;
}

static void overflow_thread_ends(void *argument)
{
    struct session_common *common = argument;
    struct overflows *overflows = &common->overflows;

    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflows->ended = true;
    overflows->clock->wake(overflows->clock, &overflows->changed);
    pthread_mutex_unlock(&overflows->mutex);
    common_release(common);
}

static void overflow_serve(struct overflows *overflows)
{
    pthread_mutex_lock(&overflows->mutex);
    while (!overflows->ending) {
        if (!overflow_tell_next(overflows)) {
            pthread_mutex_unlock(&overflows->mutex);
            sem_wait(&overflows->semaphore);
            pthread_mutex_lock(&overflows->mutex);
        }
    }
    pthread_mutex_unlock(&overflows->mutex);
}

/* A handler may end the thread. */
static void *overflow_thread(void *argument)
{
    struct session_common *common = argument;

    pthread_cleanup_push(overflow_thread_ends, common);
    overflow_serve(&common->overflows);
    pthread_cleanup_pop(1);
    return NULL;
}

static bool overflow_by_hand(const struct overflows *overflows)
{
    return overflows->clock != session_clock_real();
}

int overflow_start(struct session_common *common)
{
    struct overflows *overflows = &common->overflows;
    struct session_clock *clock = overflows->clock;

    if (overflows->ended) { /* a handler has ended it */
        errno = EAGAIN;
        return -1;
    }
    if (overflows->started || overflow_by_hand(overflows)) {
        return 0;
    }
    common_hold(common);
    overflows->started = clock->start(clock, &overflows->thread, overflow_thread, common) == 0;
    if (!overflows->started) {
        common_release(common);
        errno = EAGAIN;
    }
    return overflows->started ? 0 : -1;
}

/* Whether the caller is that thread: a handler. */
static bool overflow_is_handler(const struct overflows *overflows)
{
    return overflows->started && pthread_equal(overflows->thread, pthread_self());
}

/* Until something more has been told; where there is no thread, tell it. @return false: too late */
static bool overflow_wait(struct overflows *overflows, uint64_t deadline_ns)
{
    if (overflow_by_hand(overflows)) {
        return overflows->telling < 0 && overflow_tell_next(overflows);
    }
    return overflows->clock->wait(overflows->clock, &overflows->changed, &overflows->mutex,
                                  deadline_ns);
}

void overflow_flush(struct session_common *common, uint64_t patience_ns)
{
    struct overflows *overflows = &common->overflows;
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;

    pthread_mutex_lock(&overflows->mutex);
    while (!overflow_is_handler(overflows) && !overflows->ended &&
           (overflows->telling >= 0 || overflow_oldest(overflows, false) ||
            overflow_oldest(overflows, true)) &&
           overflow_wait(overflows, deadline_ns)) {
    }
    pthread_mutex_unlock(&overflows->mutex);
}

/* Its handler is not called any more. */
static bool overflow_is_left(const struct overflows *overflows, int number)
{
    return overflows->telling != number &&
           (overflows->slots[number].state != OVERFLOW_LEAVING || overflows->ended);
}

int overflow_await_left(struct session_common *common, int number, uint64_t patience_ns)
{
    struct overflows *overflows = &common->overflows;
    struct overflow_slot *slot = &overflows->slots[number];
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;

    if (overflows->telling != number) {
        overflow_free_if_left(slot);
    }
    if (overflow_is_handler(overflows)) {
        return 0;
    }
    while (!overflow_is_left(overflows, number) && overflow_wait(overflows, deadline_ns)) {
    }
    if (overflow_by_hand(overflows)) {
        return 0;
    }
    if (!overflow_is_left(overflows, number)) {
        overflow_free_slot(slot);
        errno = EBUSY;
        return -1;
    }
    if (slot->state == OVERFLOW_LEAVING) { /* the thread has ended: nobody is told */
        overflow_free_slot(slot);
    }
    return 0;
}

void overflow_dismiss(struct session_common *common)
{
    struct overflows *overflows = &common->overflows;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        overflow_cpu_end(overflows->slots[i].cpu);
    }
    pthread_mutex_lock(&overflows->mutex);
    overflows->ending = true;
    sem_post(&overflows->semaphore);
    pthread_mutex_unlock(&overflows->mutex);
}

void overflow_end(struct session_common *common, uint64_t deadline_ns)
{
    struct overflows *overflows = &common->overflows;
    bool ended;

    pthread_mutex_lock(&overflows->mutex);
    while (overflows->started && !overflows->ended && overflow_wait(overflows, deadline_ns)) {
    }
    ended = overflows->ended;
    pthread_mutex_unlock(&overflows->mutex);
    if (overflows->started) {
        overflows->clock->leave(overflows->clock, overflows->thread, ended);
    }
}
