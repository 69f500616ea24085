/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "session/overflow_deliver.h"

/* --- finding ---------------------------------------------------------------------------------- */

/* The meter of a threshold. */
struct overflow_target {
    enum overflow_subject subject;
    size_t component, index;
    struct apapi_event event; /* a copy; of a domain one of energy, in J */
    bool opening;             /* a component that may have it is not open yet */
    double step;              /* of the counters, the coarsest if there are several; 0: not known */
    double interval_s;        /* between two readings */
    struct nearest similar;   /* events */
};

/* @return whether the component has the event, or meters for the domain or a part of the node. */
static bool overflow_find_in(const struct component *component, const char *name,
                             struct overflow_target *target)
{
    bool of_event = target->subject == OVERFLOW_EVENT, found = false;
    size_t length = strlen(component->name);

    for (size_t i = 0; i < component->meter_count && !(of_event && found); i++) {
        const struct apapi_event *event = &component->events[i];
        double step = event->accumulates && event->type != APAPI_TYPE_FP64 ? event->scale : 0;
        enum apapi_domain domain = component->feeds[i];

        if (of_event) {
            nearest_offer(event->name, &target->similar);
        }
        if (of_event && strcmp(event->name, name) == 0) {
            target->index = i;
            target->event = *event;
            target->step = step;
            found = true;
        } else if (!of_event && domain != APAPI_DOMAIN_NONE &&
                   (target->subject == OVERFLOW_NODE ? apapi_domain_adds_up(domain)
                                                     : domain == target->index)) {
            target->step = fmax(target->step, step);
            found = true;
        }
    }
    /* the component's name stands before ":::"; where it does not, any may have the event */
    target->opening |=
        component->to_open &&
        (!of_event || !strstr(name, ":::") ||
         (strncmp(name, component->name, length) == 0 && strncmp(name + length, ":::", 3) == 0));
    if (found) {
        target->interval_s = (double)component->interval_ns / 1e9;
    }
    return found;
}

static int overflow_find(struct sampling *sampling, const char *name,
                         struct overflow_target *target, struct apapi_error *err)
{
    enum apapi_domain domain = apapi_domain_find(name);
    char similar[112] = "";
    bool found = false;

    *target = (struct overflow_target){
        .event = {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1, .unit = "J"}};
    if (strcmp(name, LIMIT_TOTAL_NAME) == 0) {
        target->subject = OVERFLOW_NODE;
    } else if (domain != APAPI_DOMAIN_NONE) {
        target->subject = OVERFLOW_DOMAIN;
        target->index = domain;
    }
    nearest_begin(&target->similar, name);
    for (size_t i = 0; i < sampling->count && !(found && target->subject == OVERFLOW_EVENT); i++) {
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        if (overflow_find_in(&sampling->components[i], name, target)) {
            target->component = i;
            found = true;
        }
        pthread_mutex_unlock(mutex);
    }
    if (found) {
        return 0;
    }
    if (target->opening) {
        return apapi_fail(err, EAGAIN, "%.100s: a component is still being opened", name);
    }
    nearest_text(&target->similar, similar, sizeof similar);
    return apapi_fail(err, ENOENT, "%.80s: this session measures no such event or domain%s", name,
                      target->subject == OVERFLOW_EVENT && *similar == '\0'
                          ? "; 'apapi list' shows all events"
                          : similar);
}

/* --- checking --------------------------------------------------------------------------------- */

static int overflow_check_words(const struct apapi_overflow *what, struct apapi_error *err)
{
    if (what->mode > APAPI_OVERFLOW_BELOW) {
        return apapi_fail(err, EINVAL, "%.100s: mode 0x%x is not known", what->event, what->mode);
    }
    if (!isfinite(what->threshold)) {
        return apapi_fail(err, EINVAL, "%.100s: the threshold is no finite number", what->event);
    }
    if (!isfinite(what->hysteresis) || what->hysteresis < 0) {
        return apapi_fail(err, EINVAL, "%.100s: hysteresis must be a number from 0", what->event);
    }
    if (limit_counts(what->mode) && (what->hold_ns > 0 || what->hysteresis > 0)) {
        return apapi_fail(err, EINVAL, "%.100s: a total has neither a time to hold nor hysteresis",
                          what->event);
    }
    return 0;
}

/* The unit of a threshold: a gauge of power has energy, a counter of energy has power. */
static void overflow_unit(const struct apapi_overflow *what, const struct apapi_event *event,
                          char *unit, size_t size)
{
    bool rate = !limit_counts(what->mode) && event->accumulates;

    if (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER) {
        bool power = rate || (!limit_counts(what->mode) && event->kind == APAPI_KIND_POWER);

        snprintf(unit, size, "%s", power ? "W" : "J");
    } else {
        snprintf(unit, size, "%s%s", event->unit, rate ? "/s" : "");
    }
}

static int overflow_check(struct sampling *sampling, const struct apapi_overflow *what,
                          struct overflow_target *target, struct apapi_error *err)
{
    bool counts = limit_counts(what->mode), any_sign;
    char unit[APAPI_UNIT_SIZE + 2];
    double step;

    if (overflow_check_words(what, err) || overflow_find(sampling, what->event, target, err)) {
        return -1;
    }
    overflow_unit(what, &target->event, unit, sizeof unit);
    any_sign = target->event.kind == APAPI_KIND_TEMPERATURE && !counts;
    step = counts ? target->step : target->step / target->interval_s;
    if (what->unit && strcmp(what->unit, unit) != 0) {
        return apapi_fail(err, EDOM, "%.100s: a threshold in %s, not in %s", what->event,
                          *unit ? unit : "its own unit", what->unit);
    }
    if (!any_sign && what->threshold <= 0) {
        return apapi_fail(err, EINVAL, "%.100s: the threshold %g is not above 0", what->event,
                          what->threshold);
    }
    if (counts && !target->event.accumulates && target->event.kind != APAPI_KIND_POWER) {
        return apapi_fail(err, EINVAL, "%.100s is a gauge: it has no total", what->event);
    }
    if (what->mode == APAPI_OVERFLOW_ABOVE && !any_sign && what->hysteresis >= what->threshold) {
        return apapi_fail(err, EINVAL, "%.100s: hysteresis must be less than the threshold",
                          what->event);
    }
    if (what->threshold < step && target->event.accumulates) {
        return apapi_fail(err, ERANGE, "%.100s: the threshold %g %s is below its resolution, %g %s",
                          what->event, what->threshold, unit, step, unit);
    }
    return 0;
}

/* --- setting ---------------------------------------------------------------------------------- */

/* From now on readings are looked at; what was measured before in this run is added. */
static void overflow_catch_up(struct sampling *sampling)
{
    struct overflows *overflows = &sampling->common.overflows;

    pthread_mutex_lock(&overflows->mutex);
    overflow_forget_sums(overflows);
    pthread_mutex_unlock(&overflows->mutex);
    for (size_t i = 0; i < sampling->count; i++) {
        pthread_mutex_t *component = sampling_lock(sampling, i);

        pthread_mutex_lock(&overflows->mutex);
        if (sampling->components[i].tried) {
            overflow_see(overflows, &sampling->components[i], i);
        }
        pthread_mutex_unlock(&overflows->mutex);
        pthread_mutex_unlock(component);
    }
}

static void overflow_set_level(struct overflow_slot *slot, const struct apapi_overflow *what)
{
    slot->limit = (struct limit_state){.mode = (enum apapi_overflow_mode)what->mode,
                                       .hold_ns = what->hold_ns,
                                       .hysteresis = what->hysteresis};
    slot->limit.level = limit_level(what->threshold, slot->scale);
}

static void overflow_fill(struct overflow_slot *slot, const struct apapi_overflow *what,
                          const struct overflow_target *target)
{
    memset(slot, 0, sizeof *slot);
    slot->state = OVERFLOW_SET;
    slot->subject = target->subject;
    slot->scale = limit_counts(what->mode) && target->event.accumulates ? target->event.scale : 1;
    slot->what = *what;
    slot->what.unit = NULL;
    slot->what.event = strncpy(slot->event, what->event, sizeof slot->event - 1);
    if (target->subject != OVERFLOW_CPU) {
        overflow_unit(what, &target->event, slot->unit, sizeof slot->unit);
    }
    overflow_set_level(slot, what);
}

static void overflow_watch_target(struct overflows *overflows, int number,
                                  const struct overflow_target *target)
{
    const struct overflow_watch watch = {.subject = target->subject,
                                         .component = target->component,
                                         .index = target->index,
                                         .counts =
                                             limit_counts(overflows->slots[number].limit.mode)};

    if (target->subject != OVERFLOW_CPU) {
        overflow_watch(overflows, number, &watch);
    }
}

/* @return its number. */
static int overflow_reserve(struct sampling *sampling, const struct apapi_overflow *what,
                            const struct overflow_target *target, struct apapi_error *err)
{
    struct overflows *overflows = &sampling->common.overflows;
    int number = 0;

    pthread_mutex_lock(&overflows->mutex);
    while (number < APAPI_OVERFLOW_MAX && overflows->slots[number].state != OVERFLOW_FREE) {
        number++;
    }
    if (number == APAPI_OVERFLOW_MAX) {
        number = apapi_fail(err, ENOSPC, "%.100s: a session has at most %d thresholds", what->event,
                            APAPI_OVERFLOW_MAX);
    } else if (overflow_start(&sampling->common)) {
        number =
            apapi_fail(err, EAGAIN, "%.100s: no thread can be started for handlers", what->event);
    } else {
        overflow_fill(&overflows->slots[number], what, target);
        overflow_watch_target(overflows, number, target);
    }
    pthread_mutex_unlock(&overflows->mutex);
    return number;
}

/* PAPI counts the calling thread. */
static int overflow_add_cpu(struct sampling *sampling, const struct apapi_overflow *what,
                            struct apapi_error *err)
{
    const struct overflow_target target = {.subject = OVERFLOW_CPU};
    struct overflows *overflows = &sampling->common.overflows;
    struct overflow_cpu *cpu;
    int number, error;

    if (overflow_cpu_check(what, err)) {
        return -1;
    }
    number = overflow_reserve(sampling, what, &target, err);
    if (number < 0) {
        return -1;
    }
    cpu = overflow_cpu_begin(overflows, number, what, err);
    error = errno;
    pthread_mutex_lock(&overflows->mutex);
    overflows->slots[number].cpu = cpu;
    if (!cpu) {
        overflow_free_slot(&overflows->slots[number]);
    }
    pthread_mutex_unlock(&overflows->mutex);
    if (cpu) {
        sem_post(&overflows->semaphore); /* it may have interrupted already */
    }
    errno = error;
    return cpu ? number : -1;
}

int overflow_add(struct sampling *sampling, const struct apapi_overflow *what,
                 struct apapi_error *err)
{
    struct overflows *overflows = &sampling->common.overflows;
    struct overflow_target target;
    int number;

    if (!what->event || !what->handler) {
        return apapi_fail(err, EINVAL, "a threshold needs an event and a handler");
    }
    if (overflow_is_cpu(what)) {
        return overflow_add_cpu(sampling, what, err);
    }
    if (overflow_check(sampling, what, &target, err)) {
        return -1;
    }
    if (atomic_fetch_add(&overflows->active, 1) == 0) {
        overflow_catch_up(sampling);
    }
    number = overflow_reserve(sampling, what, &target, err);
    if (number < 0) {
        atomic_fetch_sub(&overflows->active, 1);
    }
    return number;
}

/* With the mutex. @return NULL: there is no such threshold. */
static struct overflow_slot *overflow_slot(struct overflows *overflows, int number)
{
    return number >= 0 && number < APAPI_OVERFLOW_MAX &&
                   overflows->slots[number].state == OVERFLOW_SET
               ? &overflows->slots[number]
               : NULL;
}

int overflow_change(struct sampling *sampling, int number, double threshold,
                    struct apapi_error *err)
{
    struct overflows *overflows = &sampling->common.overflows;
    struct overflow_target target;
    struct apapi_overflow what = {.event = NULL};
    struct overflow_slot *slot;
    char event[APAPI_NAME_SIZE];

    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (slot) {
        what = slot->what;
        what.threshold = threshold;
        what.event = memcpy(event, slot->event, sizeof event);
    }
    pthread_mutex_unlock(&overflows->mutex);
    if (!slot) {
        return apapi_fail(err, EINVAL, "there is no threshold %d", number);
    }
    if (overflow_is_cpu(&what)) {
        return apapi_fail(err, ENOTSUP, "%.100s: PAPI counts it: remove it and set it again",
                          event);
    }
    if (overflow_check(sampling, &what, &target, err)) {
        return -1;
    }
    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (slot) {
        overflow_set_level(slot, &what);
        overflow_watch_target(overflows, number, &target);
    }
    pthread_mutex_unlock(&overflows->mutex);
    return 0;
}

int overflow_remove(struct sampling *sampling, int number)
{
    struct overflows *overflows = &sampling->common.overflows;
    struct overflow_slot *slot;
    int result = -1;

    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (!slot) {
        errno = EINVAL;
    } else if (slot->subject == OVERFLOW_CPU && !overflow_cpu_is_mine(slot->cpu)) {
        errno = EPERM;
    } else {
        overflow_cpu_end(slot->cpu);
        if (slot->subject != OVERFLOW_CPU) {
            atomic_fetch_sub(&overflows->active, 1);
        }
        slot->state = OVERFLOW_LEAVING;
        overflow_unwatch(overflows, number);
        sem_post(&overflows->semaphore);
        result = overflow_await_left(&sampling->common, number, APAPI_STOP_WAIT_NS);
    }
    pthread_mutex_unlock(&overflows->mutex);
    return result;
}
