/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting, changing and removing thresholds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "limit/limit.h"
#include "session/overflow.h"
#include "session/sampling.h"

/* --- the meter of a threshold ----------------------------------------------------------------- */

struct overflow_search {
    const char *name;
    struct apapi_event event; /* a copy; of a domain one of energy, in J */
    bool found, opening;      /* a component that may have it is not open yet */
    double step;              /* of the counters, the coarsest if there are several; 0: not known */
    double interval_s;        /* between two readings */
    struct nearest similar;   /* events */
};

/* The event, or meters for the domain or a part of the node. */
static void overflow_search_in(const struct component *component, struct overflow_search *search,
                               struct overflow_slot *slot, size_t number)
{
    bool of_event = slot->target.subject == OVERFLOW_EVENT, here = false;
    size_t length = strlen(component->name);

    for (size_t i = 0; i < component->meter_count && !(of_event && here); i++) {
        const struct apapi_event *event = &component->events[i];
        enum apapi_domain domain = component->feeds[i];

        if (of_event) {
            nearest_offer(event->name, &search->similar);
        }
        if (of_event                                  ? strcmp(event->name, search->name) != 0
            : slot->target.index == APAPI_DOMAIN_NONE ? !apapi_domain_adds_up(domain)
                                                      : domain != slot->target.index) {
            continue;
        }
        if (of_event) {
            slot->target.index = i;
            search->event = *event;
        }
        if (event->accumulates && event->type != APAPI_TYPE_FP64) {
            search->step = fmax(search->step, event->scale);
        }
        here = true;
    }
    /* the component's name stands before ":::"; where it does not, any may have the event */
    search->opening |=
        component->to_open && (!of_event || !strstr(search->name, ":::") ||
                               (strncmp(search->name, component->name, length) == 0 &&
                                strncmp(search->name + length, ":::", 3) == 0));
    if (here) {
        search->found = true;
        search->interval_s = (double)component->interval_ns / 1e9;
        slot->target.component = of_event ? number : 0;
    }
}

static int overflow_find(struct sampling *sampling, struct overflow_search *search,
                         struct overflow_slot *slot, struct apapi_error *err)
{
    enum apapi_domain domain = apapi_domain_find(search->name);
    char similar[112] = "";

    if (domain != APAPI_DOMAIN_NONE || strcmp(search->name, LIMIT_TOTAL_NAME) == 0) {
        slot->target.subject = OVERFLOW_DOMAIN;
        slot->target.index = domain;
    }
    nearest_begin(&search->similar, search->name);
    for (size_t i = 0;
         i < sampling->count && !(search->found && slot->target.subject == OVERFLOW_EVENT); i++) {
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        overflow_search_in(&sampling->components[i], search, slot, i);
        pthread_mutex_unlock(mutex);
    }
    if (search->found) {
        return 0;
    }
    if (search->opening) {
        return apapi_fail(err, EAGAIN, "%.100s: a component is still being opened", search->name);
    }
    nearest_text(&search->similar, similar, sizeof similar);
    return apapi_fail(err, ENOENT, "%.80s: this session measures no such event or domain%s",
                      search->name,
                      slot->target.subject == OVERFLOW_EVENT && *similar == '\0'
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
static void overflow_unit(bool counts, const struct apapi_event *event, char *unit, size_t size)
{
    if (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER) {
        snprintf(unit, size, "%s", counts ? "J" : "W");
    } else {
        snprintf(unit, size, "%s%s", event->unit, counts || !event->accumulates ? "" : "/s");
    }
}

static int overflow_check(const struct apapi_overflow *what, const struct overflow_search *search,
                          const char *unit, struct apapi_error *err)
{
    const struct apapi_event *event = &search->event;
    bool counts = limit_counts(what->mode);
    bool any_sign = event->kind == APAPI_KIND_TEMPERATURE && !counts;
    double step = counts ? search->step : search->step / search->interval_s;

    if (what->unit && strcmp(what->unit, unit) != 0) {
        return apapi_fail(err, EDOM, "%.100s: a threshold in %s, not in %s", what->event,
                          *unit ? unit : "its own unit", what->unit);
    }
    if (!any_sign && what->threshold <= 0) {
        return apapi_fail(err, EINVAL, "%.100s: the threshold %g is not above 0", what->event,
                          what->threshold);
    }
    if (counts && !event->accumulates && event->kind != APAPI_KIND_POWER) {
        return apapi_fail(err, EINVAL, "%.100s is a gauge: it has no total", what->event);
    }
    if (what->mode == APAPI_OVERFLOW_ABOVE && !any_sign && what->hysteresis >= what->threshold) {
        return apapi_fail(err, EINVAL, "%.100s: hysteresis must be less than the threshold",
                          what->event);
    }
    if (what->threshold < step && event->accumulates) {
        return apapi_fail(err, ERANGE, "%.100s: the threshold %g %s is below its resolution, %g %s",
                          what->event, what->threshold, unit, step, unit);
    }
    return 0;
}

/* Make a threshold that can be set. */
static int overflow_prepare(struct sampling *sampling, const struct apapi_overflow *what,
                            struct overflow_slot *slot, struct apapi_error *err)
{
    struct overflow_search search = {
        .name = what->event,
        .event = {.kind = APAPI_KIND_ENERGY, .accumulates = true, .scale = 1, .unit = "J"}};
    bool counts = limit_counts(what->mode);

    memset(slot, 0, sizeof *slot);
    slot->state = OVERFLOW_SET;
    slot->target.counts = counts;
    slot->what = *what;
    slot->what.event = slot->what.unit = NULL;
    strncpy(slot->event, what->event, sizeof slot->event - 1);
    if (overflow_is_cpu(what)) {
        slot->target.subject = OVERFLOW_CPU;
        return overflow_cpu_check(what, err);
    }
    if (overflow_check_words(what, err) || overflow_find(sampling, &search, slot, err)) {
        return -1;
    }
    overflow_unit(counts, &search.event, slot->unit, sizeof slot->unit);
    slot->scale = counts && search.event.accumulates ? search.event.scale : 1;
    slot->limit = (struct limit_state){.mode = (enum apapi_overflow_mode)what->mode,
                                       .level = limit_level(what->threshold, slot->scale),
                                       .hold_ns = what->hold_ns,
                                       .hysteresis = what->hysteresis};
    return overflow_check(what, &search, slot->unit, err);
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

/* With the mutex: it gets values from now on, of its own if the others have had some already. */
static void overflow_watch(struct overflows *overflows, struct overflow_slot *slot)
{
    const struct overflow_target *target = &slot->target;
    struct overflow_watch *found = NULL;

    for (size_t i = 0; i < overflows->watch_count; i++) {
        struct overflow_watch *watch = &overflows->watches[i];

        if (!watch->limits.first) {
            found = found ? found : watch;
        } else if (!watch->begun && watch->target.subject == target->subject &&
                   watch->target.counts == target->counts &&
                   watch->target.component == target->component &&
                   watch->target.index == target->index) {
            found = watch;
            break;
        }
    }
    if (!found) { /* there is one for each threshold */
        found = &overflows->watches[overflows->watch_count++];
    }
    if (!found->limits.first) {
        *found = (struct overflow_watch){.target = *target};
    }
    slot->watch = found;
    limit_join(&found->limits, &slot->limit);
}

static void overflow_unwatch(struct overflow_slot *slot)
{
    if (slot->watch) {
        limit_leave(&slot->watch->limits, &slot->limit);
    }
    slot->watch = NULL;
}

/* @return its number. */
static int overflow_reserve(struct overflows *overflows, const struct overflow_slot *slot,
                            struct apapi_error *err)
{
    int number = 0;

    pthread_mutex_lock(&overflows->mutex);
    while (number < APAPI_OVERFLOW_MAX && overflows->slots[number].state != OVERFLOW_FREE) {
        number++;
    }
    if (number == APAPI_OVERFLOW_MAX) {
        number = apapi_fail(err, ENOSPC, "%.100s: a session has at most %d thresholds", slot->event,
                            APAPI_OVERFLOW_MAX);
    } else if (overflow_start(overflows)) {
        number =
            apapi_fail(err, EAGAIN, "%.100s: no thread can be started for handlers", slot->event);
    } else {
        overflows->slots[number] = *slot;
        if (slot->target.subject != OVERFLOW_CPU) {
            overflow_watch(overflows, &overflows->slots[number]);
        }
    }
    pthread_mutex_unlock(&overflows->mutex);
    return number;
}

int overflow_add(struct sampling *sampling, const struct apapi_overflow *what,
                 struct apapi_error *err)
{
    struct overflows *overflows = &sampling->common.overflows;
    struct overflow_slot slot;
    int number;

    if (!what->event || !what->handler) {
        return apapi_fail(err, EINVAL, "a threshold needs an event and a handler");
    }
    if (overflow_prepare(sampling, what, &slot, err)) {
        return -1;
    }
    if (slot.target.subject == OVERFLOW_CPU) {
        number = overflow_reserve(overflows, &slot, err);
        return number < 0 || overflow_cpu_begin(overflows, number, what, err) ? -1 : number;
    }
    if (atomic_fetch_add(&overflows->active, 1) == 0) {
        overflow_catch_up(sampling);
    }
    number = overflow_reserve(overflows, &slot, err);
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
    struct overflow_slot *slot, old, changed;

    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (slot) {
        old = *slot;
    }
    pthread_mutex_unlock(&overflows->mutex);
    if (!slot) {
        return apapi_fail(err, EINVAL, "there is no threshold %d", number);
    }
    if (old.target.subject == OVERFLOW_CPU) {
        return apapi_fail(err, ENOTSUP, "%.100s: PAPI counts it: remove it and set it again",
                          old.event);
    }
    old.what.threshold = threshold;
    old.what.event = old.event;
    if (overflow_prepare(sampling, &old.what, &changed, err)) {
        return -1;
    }
    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (slot) { /* crossings before are still told */
        changed.news = slot->news;
        overflow_unwatch(slot);
        *slot = changed;
        overflow_watch(overflows, slot);
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
    } else if (slot->target.subject == OVERFLOW_CPU && !overflow_cpu_is_mine(slot->cpu)) {
        errno = EPERM;
    } else {
        overflow_cpu_end(slot->cpu);
        if (slot->target.subject != OVERFLOW_CPU) {
            atomic_fetch_sub(&overflows->active, 1);
        }
        slot->state = OVERFLOW_LEAVING;
        overflow_unwatch(slot);
        sem_post(&overflows->semaphore);
        result = overflow_await_left(overflows, number, APAPI_STOP_WAIT_NS);
    }
    pthread_mutex_unlock(&overflows->mutex);
    return result;
}
