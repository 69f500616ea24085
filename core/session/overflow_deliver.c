/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow_deliver.h"

#include <errno.h>
#include <string.h>

#include "session/overflow_cpu.h"
#include "session/overflow_evaluate.h"

static void overflow_wake(struct overflows *overflows)
{
    overflows->clock->wake(overflows->clock, &overflows->changed);
}

/* @return the threshold with the oldest news; NULL: none has any. */
static struct overflow_slot *overflow_oldest(struct overflows *overflows)
{
    struct overflow_slot *oldest = NULL;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        struct overflow_slot *slot = &overflows->slots[i];

        if (slot->news.count > 0 && (!oldest || slot->news.order < oldest->news.order)) {
            oldest = slot;
        }
    }
    return oldest;
}

/* @return the threshold of PAPI's whose next interrupt is the oldest; NULL: none has any. */
static struct overflow_slot *overflow_oldest_cpu(struct overflows *overflows)
{
    struct overflow_slot *oldest = NULL;
    uint64_t oldest_ns = UINT64_MAX;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        struct overflow_slot *slot = &overflows->slots[i];
        const struct overflow_interrupt *next = slot->cpu ? overflow_cpu_next(slot->cpu) : NULL;

        if (next && next->time_ns < oldest_ns) {
            oldest = slot;
            oldest_ns = next->time_ns;
        }
    }
    return oldest;
}

static bool overflow_has_news(struct overflows *overflows)
{
    return overflow_oldest(overflows) || overflow_oldest_cpu(overflows);
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
    apapi_overflow_f handler = slot->handler;
    void *user = slot->user;
    char event[APAPI_NAME_SIZE], unit[sizeof slot->unit];

    memcpy(event, slot->event, sizeof event);
    memcpy(unit, slot->unit, sizeof unit);
    crossing->event = event;
    crossing->unit = unit;
    crossing->overflow = (int)(slot - overflows->slots);
    overflows->telling = crossing->overflow;
    pthread_mutex_unlock(&overflows->mutex);
    handler(crossing, user);
    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflow_free_if_left(slot);
    overflow_wake(overflows);
}

static void overflow_tell_news(struct overflows *overflows, struct overflow_slot *slot)
{
    const struct overflow_news news = slot->news;
    struct apapi_overflow_crossing crossing = {.count = news.count,
                                               .value = news.value,
                                               .seen_value = news.seen_value,
                                               .time_ns = news.time_ns,
                                               .first_ns = news.first_ns,
                                               .seen_ns = news.seen_ns,
                                               .vector = news.vector};

    slot->news.count = 0;
    overflow_call(overflows, slot, &crossing);
}

static void overflow_tell_interrupt(struct overflows *overflows, struct overflow_slot *slot)
{
    struct overflow_cpu *cpu = slot->cpu;
    const struct overflow_interrupt interrupt = *overflow_cpu_next(cpu);
    struct apapi_overflow_crossing crossing = {.count = interrupt.lost + 1,
                                               .time_ns = interrupt.time_ns,
                                               .first_ns = interrupt.time_ns,
                                               .seen_ns = interrupt.time_ns,
                                               .vector = interrupt.vector,
                                               .address = interrupt.address,
                                               .context = &interrupt.context};

    overflow_cpu_took(cpu);
    cpu->told += crossing.count;
    crossing.value = crossing.seen_value = (double)cpu->told * cpu->threshold;
    overflow_call(overflows, slot, &crossing);
}

/* @return whether there was something to tell. */
static bool overflow_tell_next(struct overflows *overflows)
{
    struct overflow_slot *slot = overflow_oldest(overflows);

    if (slot) {
        overflow_tell_news(overflows, slot);
        return true;
    }
    slot = overflow_oldest_cpu(overflows);
    if (slot) {
        overflow_tell_interrupt(overflows, slot);
    }
    return slot != NULL;
}

static void overflow_thread_ends(void *argument)
{
    struct session_common *common = argument;
    struct overflows *overflows = &common->overflows;

    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflows->ended = true;
    overflow_wake(overflows);
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

bool overflow_is_handler(const struct overflows *overflows)
{
    return overflows->started && pthread_equal(overflows->thread, pthread_self());
}

static void overflow_tell_all(struct overflows *overflows)
{
    while (overflows->telling < 0 && overflow_tell_next(overflows)) {
    }
}

void overflow_tell(struct session_common *common)
{
    pthread_mutex_lock(&common->overflows.mutex);
    overflow_tell_all(&common->overflows);
    pthread_mutex_unlock(&common->overflows.mutex);
}

static bool overflow_wait(struct overflows *overflows, uint64_t deadline_ns)
{
    return overflows->clock->wait(overflows->clock, &overflows->changed, &overflows->mutex,
                                  deadline_ns);
}

static void overflow_await_told(struct overflows *overflows, uint64_t patience_ns)
{
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;

    while (!overflows->ended && (overflows->telling >= 0 || overflow_has_news(overflows)) &&
           overflow_wait(overflows, deadline_ns)) {
    }
}

void overflow_flush(struct session_common *common, uint64_t patience_ns)
{
    struct overflows *overflows = &common->overflows;

    pthread_mutex_lock(&overflows->mutex);
    if (overflow_by_hand(overflows)) {
        overflow_tell_all(overflows);
    } else if (overflows->started && !overflow_is_handler(overflows)) {
        overflow_await_told(overflows, patience_ns);
    }
    pthread_mutex_unlock(&overflows->mutex);
}

static bool overflow_is_left(const struct overflows *overflows, int number)
{
    return overflows->telling != number &&
           (overflows->slots[number].state != OVERFLOW_LEAVING || overflows->ended);
}

int overflow_await_left(struct session_common *common, int number, uint64_t patience_ns)
{
    struct overflows *overflows = &common->overflows;
    struct overflow_slot *slot = &overflows->slots[number];
    uint64_t deadline_ns;

    if (overflow_by_hand(overflows)) {
        overflow_tell_all(overflows);
    }
    if (overflows->telling != number) {
        overflow_free_if_left(slot);
    }
    if (overflow_is_handler(overflows) || overflow_by_hand(overflows)) {
        return 0;
    }
    deadline_ns = session_clock_now_ns(overflows->clock) + patience_ns;
    while (!overflow_is_left(overflows, number) && overflow_wait(overflows, deadline_ns)) {
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
