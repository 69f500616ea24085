/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "session/overflow.h"
#include "sources/sources.h"

static void overflow_free_slot(struct overflow_slot *slot)
{
    free(slot->cpu);
    memset(slot, 0, sizeof *slot);
}

/* --- thresholds that PAPI counts -------------------------------------------------------------- */

/*
 * A signal in the thread that is counted notes where it was, in a ring with no other writer; the
 * thread that calls handlers reads it.
 */

#define OVERFLOW_RING 64 /* interrupts that a handler may be behind; further ones are counted */

struct overflow_interrupt {
    struct apapi_overflow_crossing crossing; /* `count`: with those before it without room */
    ucontext_t context;
};

struct overflow_cpu {
    struct overflows *overflows;
    int number;
    double threshold;
    uint64_t told; /* interrupts */
    struct source_overflow_counter counter;
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

static void overflow_cpu_note(struct overflow_cpu *cpu, uint64_t vector, void *address,
                              const void *context)
{
    uint64_t now_ns = session_clock_now_ns(cpu->overflows->clock);
    unsigned written = atomic_load_explicit(&cpu->written, memory_order_relaxed);
    struct overflow_interrupt *entry = &cpu->ring[written % OVERFLOW_RING];

    if (written - atomic_load_explicit(&cpu->read, memory_order_acquire) == OVERFLOW_RING) {
        cpu->lost++;
        return;
    }
    entry->crossing = (struct apapi_overflow_crossing){.count = cpu->lost + 1,
                                                       .time_ns = now_ns,
                                                       .first_ns = now_ns,
                                                       .seen_ns = now_ns,
                                                       .vector = vector,
                                                       .address = address};
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
        uint64_t vector = 0;

        for (size_t k = 0; k < count; k++) {
            const struct overflow_cpu *other = users[k];

            vector |= other->overflows == cpu->overflows ? UINT64_C(1) << other->number : 0;
        }
        overflow_cpu_note(cpu, vector, address, context);
        sem_post(&cpu->overflows->semaphore);
    }
    errno = saved;
}

int overflow_cpu_begin(struct overflows *overflows, int number, const struct apapi_overflow *what,
                       struct apapi_error *err)
{
    struct overflow_slot *slot = &overflows->slots[number];
    struct overflow_cpu *cpu = calloc(1, sizeof *cpu);
    int result = cpu ? 0 : apapi_fail(err, ENOMEM, "no memory"), saved;

    if (cpu) {
        cpu->overflows = overflows;
        cpu->number = number;
        cpu->threshold = floor(what->threshold);
        cpu->counter = (struct source_overflow_counter){
            .event = slot->event,
            .threshold = (int)what->threshold,
            .software = (what->mode & APAPI_OVERFLOW_SOFTWARE) != 0,
            .handler = overflow_cpu_signal,
            .user = cpu};
        result = apapi_route_overflow->begin(&cpu->counter, err);
    }
    saved = errno; /* there is no PAPI, or it cannot be used */
    saved = saved == ENOSYS || saved == ENODEV || saved == EACCES ? ENOTSUP : saved;
    pthread_mutex_lock(&overflows->mutex);
    slot->cpu = cpu;
    if (result) {
        overflow_free_slot(slot);
    }
    pthread_mutex_unlock(&overflows->mutex);
    sem_post(&overflows->semaphore); /* it may have interrupted already */
    errno = saved;
    return result;
}

bool overflow_cpu_is_mine(const struct overflow_cpu *cpu)
{
    return cpu && apapi_route_overflow->is_mine(&cpu->counter);
}

void overflow_cpu_end(struct overflow_cpu *cpu)
{
    if (cpu) {
        apapi_route_overflow->end(&cpu->counter);
    }
}

/* @param cpu  NULL is allowed. @return the oldest interrupt that has not been told; NULL: none */
static const struct overflow_interrupt *overflow_cpu_next(const struct overflow_cpu *cpu)
{
    unsigned read = cpu ? atomic_load_explicit(&cpu->read, memory_order_relaxed) : 0;

    return !cpu || read == atomic_load_explicit(&cpu->written, memory_order_acquire)
               ? NULL
               : &cpu->ring[read % OVERFLOW_RING];
}

/* Take that one. @param interrupt  result, used by the crossing */
static struct apapi_overflow_crossing overflow_cpu_take(struct overflow_cpu *cpu,
                                                        struct overflow_interrupt *interrupt)
{
    struct apapi_overflow_crossing *crossing = &interrupt->crossing;

    *interrupt = *overflow_cpu_next(cpu);
    atomic_fetch_add_explicit(&cpu->read, 1, memory_order_release);
    cpu->told += crossing->count;
    crossing->value = crossing->seen_value = (double)cpu->told * cpu->threshold;
    crossing->context = &interrupt->context;
    return *crossing;
}

/* --- handlers --------------------------------------------------------------------------------- */

/* @return when the first crossing was that is not told yet; UINT64_MAX: there is none */
static uint64_t overflow_first_ns(const struct overflow_slot *slot)
{
    const struct overflow_interrupt *next = overflow_cpu_next(slot->cpu);

    return slot->news.count > 0 ? slot->news.first_ns : next ? next->crossing.time_ns : UINT64_MAX;
}

/* @return the threshold with the oldest crossing; NULL: none. */
static struct overflow_slot *overflow_oldest(struct overflows *overflows)
{
    struct overflow_slot *oldest = NULL;
    uint64_t oldest_ns = UINT64_MAX;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        uint64_t first_ns = overflow_first_ns(&overflows->slots[i]);

        if (first_ns < oldest_ns) {
            oldest_ns = first_ns;
            oldest = &overflows->slots[i];
        }
    }
    return oldest;
}

static void overflow_free_if_left(struct overflow_slot *slot)
{
    if (slot->state == OVERFLOW_LEAVING && overflow_first_ns(slot) == UINT64_MAX) {
        overflow_free_slot(slot);
    }
}

/* With the mutex, which is not held during the call. @return whether there was anything. */
static bool overflow_tell_next(struct overflows *overflows)
{
    struct overflow_slot *slot = overflow_oldest(overflows);
    struct apapi_overflow_crossing crossing;
    struct overflow_interrupt interrupt;
    struct apapi_overflow what;
    char event[APAPI_NAME_SIZE], unit[sizeof slot->unit];

    if (!slot) {
        return false;
    }
    crossing = slot->cpu ? overflow_cpu_take(slot->cpu, &interrupt) : slot->news;
    slot->news.count = 0;
    what = slot->what;
    crossing.event = memcpy(event, slot->event, sizeof event);
    crossing.unit = memcpy(unit, slot->unit, sizeof unit);
    crossing.overflow = overflows->telling = (int)(slot - overflows->slots);
    pthread_mutex_unlock(&overflows->mutex);
    what.handler(&crossing, what.user);
    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflow_free_if_left(slot);
    overflows->clock->wake(overflows->clock, &overflows->changed);
    return true;
}

static void overflow_thread_ends(void *argument)
{
    struct overflows *overflows = argument;

    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflows->ended = true;
    overflows->clock->wake(overflows->clock, &overflows->changed);
    pthread_mutex_unlock(&overflows->mutex);
    overflows->hold(overflows->owner, false);
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
    pthread_cleanup_push(overflow_thread_ends, argument);
    overflow_serve(argument);
    pthread_cleanup_pop(1);
    return NULL;
}

static bool overflow_by_hand(const struct overflows *overflows)
{
    return overflows->clock != session_clock_real();
}

int overflow_start(struct overflows *overflows)
{
    struct session_clock *clock = overflows->clock;

    if (!overflows->ended && (overflows->started || overflow_by_hand(overflows))) {
        return 0;
    }
    if (!overflows->ended) { /* else a handler has ended it */
        overflows->hold(overflows->owner, true);
        overflows->started =
            clock->start(clock, &overflows->thread, overflow_thread, overflows) == 0;
        if (overflows->started) {
            return 0;
        }
        overflows->hold(overflows->owner, false);
    }
    errno = EAGAIN;
    return -1;
}

static bool overflow_in_handler(const struct overflows *overflows)
{
    return overflow_by_hand(overflows)
               ? overflows->telling >= 0
               : overflows->started && pthread_equal(overflows->thread, pthread_self());
}

/* Until something more has been told; where there is no thread, tell it. @return false: too late */
static bool overflow_wait(struct overflows *overflows, uint64_t deadline_ns)
{
    return overflow_by_hand(overflows)
               ? overflow_tell_next(overflows)
               : overflows->clock->wait(overflows->clock, &overflows->changed, &overflows->mutex,
                                        deadline_ns);
}

void overflow_flush(struct overflows *overflows, uint64_t patience_ns)
{
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;

    pthread_mutex_lock(&overflows->mutex);
    while (!overflow_in_handler(overflows) && !overflows->ended &&
           (overflows->telling >= 0 || overflow_oldest(overflows)) &&
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

int overflow_await_left(struct overflows *overflows, int number, uint64_t patience_ns)
{
    struct overflow_slot *slot = &overflows->slots[number];
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;
    bool left;

    if (overflows->telling != number) {
        overflow_free_if_left(slot);
    }
    if (overflow_in_handler(overflows)) {
        return 0;
    }
    while (!(left = overflow_is_left(overflows, number)) && overflow_wait(overflows, deadline_ns)) {
    }
    if (slot->state == OVERFLOW_LEAVING) { /* it hangs, or the thread has ended: no call */
        overflow_free_slot(slot);
    }
    errno = left ? errno : EBUSY;
    return left ? 0 : -1;
}

void overflow_dismiss(struct overflows *overflows)
{
    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        overflow_cpu_end(overflows->slots[i].cpu);
    }
    pthread_mutex_lock(&overflows->mutex);
    overflows->ending = true;
    sem_post(&overflows->semaphore);
    pthread_mutex_unlock(&overflows->mutex);
}

void overflow_end(struct overflows *overflows, uint64_t deadline_ns)
{
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
