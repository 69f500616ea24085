/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow_deliver.h"

#include <errno.h>
#include <string.h>

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

static void overflow_free_if_left(struct overflow_slot *slot)
{
    if (slot->state == OVERFLOW_LEAVING && slot->news.count == 0) {
        memset(slot, 0, sizeof *slot);
    }
}

/* With the mutex, which is not held during the call. */
static void overflow_call(struct overflows *overflows, struct overflow_slot *slot)
{
    const struct overflow_news news = slot->news;
    apapi_overflow_f handler = slot->handler;
    void *user = slot->user;
    int number = (int)(slot - overflows->slots);
    char event[APAPI_NAME_SIZE];
    const struct apapi_overflow_crossing crossing = {.event = event,
                                                     .overflow = number,
                                                     .count = news.count,
                                                     .value = news.value,
                                                     .seen_value = news.seen_value,
                                                     .time_ns = news.time_ns,
                                                     .first_ns = news.first_ns,
                                                     .seen_ns = news.seen_ns,
                                                     .vector = news.vector};

    memcpy(event, slot->event, sizeof event);
    slot->news.count = 0;
    overflows->telling = number;
    pthread_mutex_unlock(&overflows->mutex);
    handler(&crossing, user);
    pthread_mutex_lock(&overflows->mutex);
    overflows->telling = -1;
    overflow_free_if_left(slot);
    overflow_wake(overflows);
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
        struct overflow_slot *slot = overflow_oldest(overflows);

        if (slot) {
            overflow_call(overflows, slot);
        } else {
            overflows->clock->wait(overflows->clock, &overflows->changed, &overflows->mutex,
                                   UINT64_MAX);
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
    struct overflow_slot *slot;

    while (overflows->telling < 0 && (slot = overflow_oldest(overflows))) {
        overflow_call(overflows, slot);
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

    while (!overflows->ended && (overflows->telling >= 0 || overflow_oldest(overflows)) &&
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
        memset(slot, 0, sizeof *slot);
        errno = EBUSY;
        return -1;
    }
    if (slot->state == OVERFLOW_LEAVING) { /* the thread has ended: nobody is told */
        memset(slot, 0, sizeof *slot);
    }
    return 0;
}

void overflow_dismiss(struct session_common *common)
{
    struct overflows *overflows = &common->overflows;

    pthread_mutex_lock(&overflows->mutex);
    overflows->ending = true;
    overflow_wake(overflows);
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
