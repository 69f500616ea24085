/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/crossings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "threshold/action.h"
#include "threshold/threshold.h"

#define HALF (APAPI_CROSSINGS_MAX / 2)

void crossings_init(struct crossings *crossings, const struct threshold_list *thresholds,
                    struct actor *actor)
{
    int64_t unix_ns = 0;
    uint64_t now_ns = 0;

    clock_pair(&unix_ns, &now_ns);
    *crossings = (struct crossings){
        .thresholds = thresholds, .actor = actor, .unix_offset_ns = unix_ns - (int64_t)now_ns};
    pthread_mutex_init(&crossings->mutex, NULL);
}

/* The first half stays, the second half has the latest. */
static size_t crossings_slot(uint64_t number)
{
    return number < HALF ? (size_t)number : HALF + (size_t)(number % HALF);
}

static uint64_t crossings_keep(struct crossings *crossings, const struct apapi_crossing *crossing)
{
    uint64_t number;
    size_t slot;

    pthread_mutex_lock(&crossings->mutex);
    number = crossings->total++;
    slot = crossings_slot(number);
    crossings->kept[slot] = *crossing;
    crossings->numbers[slot] = number;
    pthread_mutex_unlock(&crossings->mutex);
    return number;
}

void crossings_add(struct crossings *crossings, const struct apapi_crossing *crossing)
{
    crossings_keep(crossings, crossing);
}

/* One after the other: "SIGUSR1: to 2 processes; exec: exit status 0". */
static void crossings_note(const struct order_answer *answer, void *context)
{
    struct crossings *crossings = context;
    size_t slot = crossings_slot(answer->number);
    char *result = crossings->kept[slot].result;
    size_t length;

    pthread_mutex_lock(&crossings->mutex);
    length = strlen(result);
    if (answer->number < crossings->total && crossings->numbers[slot] == answer->number) {
        snprintf(result + length, sizeof crossings->kept[slot].result - length, "%s%s",
                 length ? "; " : "", answer->text);
    }
    pthread_mutex_unlock(&crossings->mutex);
}

/* The rest is done by this process or needs nothing to be done. */
static bool crossings_needs_actor(const struct threshold *threshold)
{
    return threshold->actions & ~(unsigned)THRESHOLD_STAMP;
}

static void crossings_act(struct crossings *crossings, const struct order *order)
{
    struct order_answer answer = {.number = order->number};

    if (!crossings->actor || crossings->actor->fd < 0 ||
        !crossings_needs_actor(&crossings->thresholds->thresholds[order->threshold])) {
        return;
    }
    if (actor_order(crossings->actor, order)) {
        snprintf(answer.text, sizeof answer.text, "nothing was done: %s",
                 errno == EAGAIN ? "too many crossings at once" : strerror(errno));
        crossings_note(&answer, crossings);
    }
}

static void crossings_handle(const struct apapi_overflow_crossing *crossed, void *context)
{
    struct crossings_hook *hook = context;
    struct crossings *crossings = hook->owner;
    const struct threshold *threshold = &crossings->thresholds->thresholds[hook->threshold];
    struct order order = {.kind = ORDER_CROSSED, .threshold = hook->threshold};
    struct apapi_crossing *crossing = &order.crossing;

    hook->count += crossed->count;
    crossing->unix_ns = (int64_t)crossed->time_ns + crossings->unix_offset_ns;
    crossing->value = crossed->value;
    crossing->count = hook->count;
    snprintf(crossing->unit, sizeof crossing->unit, "%s",
             crossed->unit ? crossed->unit : threshold_unit_name(threshold));
    snprintf(crossing->threshold, sizeof crossing->threshold, "%s", threshold->text);
    action_text(threshold, crossing->action, sizeof crossing->action);
    order.number = crossings_keep(crossings, crossing);
    crossings_act(crossings, &order);
}

void crossings_cross(struct crossings *crossings, size_t threshold,
                     const struct apapi_crossing *crossing)
{
    struct order order = {.kind = ORDER_CROSSED, .threshold = threshold, .crossing = *crossing};

    order.number = crossings_keep(crossings, crossing);
    crossings_act(crossings, &order);
}

static unsigned crossings_mode(enum threshold_condition condition)
{
    static const unsigned modes[] = {[THRESHOLD_TOTAL] = APAPI_OVERFLOW_TOTAL,
                                     [THRESHOLD_EVERY] = APAPI_OVERFLOW_EVERY,
                                     [THRESHOLD_ABOVE] = APAPI_OVERFLOW_ABOVE,
                                     [THRESHOLD_BELOW] = APAPI_OVERFLOW_BELOW};

    return modes[condition];
}

/* NULL: whatever the meter is in. */
static const char *crossings_unit(const struct threshold *threshold)
{
    const char *unit = threshold_unit_name(threshold);

    return *unit ? unit : NULL;
}

/* Mark the place. The meter is there already, so its name before the reason is left out. */
static int crossings_refuse(const struct threshold *threshold, int code, const char *reason,
                            struct apapi_error *err)
{
    size_t length = strlen(threshold->meter);
    enum threshold_part part = code == ERANGE || code == EINVAL ? THRESHOLD_AMOUNT
                               : code == EDOM                   ? THRESHOLD_UNIT
                                                                : THRESHOLD_METER;

    if (strncmp(reason, threshold->meter, length) == 0 && reason[length] == ':') {
        reason += length + 1 + strspn(reason + length + 1, " ");
    }
    return threshold_refuse(threshold, part, code, reason, err);
}

static int crossings_set_one(struct crossings_hook *hook, struct apapi_session *session,
                             struct apapi_error *err)
{
    const struct threshold *threshold = &hook->owner->thresholds->thresholds[hook->threshold];
    const struct apapi_overflow overflow = {.event = threshold->meter,
                                            .threshold = threshold->amount,
                                            .mode = crossings_mode(threshold->condition),
                                            .handler = crossings_handle,
                                            .user = hook,
                                            .hold_ns = threshold->hold_ns,
                                            .hysteresis = threshold->hysteresis,
                                            .unit = crossings_unit(threshold)};
    struct apapi_error inner = {""};
    int code;

    hook->waits = false;
    if (threshold->elsewhere) {
        return 0;
    }
    if (apapi_overflow_add(session, &overflow, &inner) >= 0) {
        return 0;
    }
    code = errno;
    hook->waits = code == EAGAIN;
    return hook->waits ? 0 : crossings_refuse(threshold, code, inner.text, err);
}

int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err)
{
    int result = 0, code = 0;

    for (size_t i = 0; i < crossings->thresholds->count; i++) {
        crossings->hooks[i] = (struct crossings_hook){.owner = crossings, .threshold = i};
        if (crossings_set_one(&crossings->hooks[i], session, result ? NULL : err)) {
            code = result ? code : errno;
            result = -1;
        }
    }
    errno = code;
    return result;
}

int crossings_set_waiting(struct crossings *crossings, struct apapi_session *session,
                          struct apapi_error *err)
{
    int result = 0;

    for (size_t i = 0; i < crossings->thresholds->count; i++) {
        if (crossings->hooks[i].waits &&
            crossings_set_one(&crossings->hooks[i], session, result ? NULL : err)) {
            result = -1;
        }
    }
    return result;
}

const struct threshold *crossings_waiting(const struct crossings *crossings)
{
    for (size_t i = 0; crossings->thresholds && i < crossings->thresholds->count; i++) {
        if (crossings->hooks[i].waits) {
            return &crossings->thresholds->thresholds[i];
        }
    }
    return NULL;
}

void crossings_forget(struct crossings *crossings)
{
    pthread_mutex_lock(&crossings->mutex);
    crossings->total = 0;
    pthread_mutex_unlock(&crossings->mutex);
    for (size_t i = 0; i < THRESHOLDS_MAX; i++) {
        crossings->hooks[i].count = 0;
    }
}

static void crossings_hear(struct crossings *crossings)
{
    struct order_answer answer;

    while (crossings->actor && actor_hear(crossings->actor, &answer)) {
        crossings_note(&answer, crossings);
    }
}

/* In order: the slots of the latest are used in turn. */
static void crossings_copy_kept(const struct crossings *crossings, struct apapi_record *record)
{
    uint64_t total = crossings->total;
    uint64_t number = 0;

    for (size_t i = 0; i < record->crossing_count; i++, number++) {
        if (i == HALF && total > APAPI_CROSSINGS_MAX) {
            number = total - HALF;
        }
        record->crossing[i] = crossings->kept[crossings_slot(number)];
    }
    record->crossings = total;
}

int crossings_copy(struct crossings *crossings, struct apapi_record *record)
{
    int result = 0;

    if (!crossings->thresholds) {
        return 0;
    }
    crossings_hear(crossings);
    pthread_mutex_lock(&crossings->mutex);
    if (crossings->total > 0) {
        record->crossing_count =
            crossings->total < APAPI_CROSSINGS_MAX ? (size_t)crossings->total : APAPI_CROSSINGS_MAX;
        record->crossing = calloc(record->crossing_count, sizeof *record->crossing);
        if (record->crossing) {
            crossings_copy_kept(crossings, record);
        } else {
            record->crossing_count = 0;
            result = -1;
        }
    }
    pthread_mutex_unlock(&crossings->mutex);
    return result;
}

void crossings_end(struct crossings *crossings)
{
    if (crossings->actor) {
        actor_end(crossings->actor, crossings_note, crossings);
    }
}
