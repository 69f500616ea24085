/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting, changing and removing thresholds, and the calls of their handlers. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/nearest.h"
#include "base/text.h"
#include "limit/limit.h"
#include "session/overflow.h"
#include "session/sampling.h"
#include "sources/sources.h"

#define END_WAIT_NS UINT64_C(100000000) /* for a handler, at the session's end */

static void overflow_free_slot(struct overflow_slot *slot)
{
    free(slot->cpu);
    memset(slot, 0, sizeof *slot);
}

/* --- thresholds that PAPI counts -------------------------------------------------------------- */

/*
 * PAPI's signal in the counted thread notes the interrupted address in a ring that has no other
 * writer; the thread that calls handlers reads the ring.
 */

#define OVERFLOW_RING 64 /* interrupts that a handler may be behind; others are counted only */

struct overflow_cpu {
    struct source_overflow_counter counter; /* the first member */
    struct overflows *overflows;
    int number;
    uint64_t told; /* interrupts told to the handler */
    atomic_uint written, read;
    uint64_t lost; /* in the signal only: interrupts without room since the latest in the ring */
    struct overflow_interrupt {
        struct apapi_overflow_crossing crossing; /* `count` includes those without room before */
        ucontext_t context;
    } ring[OVERFLOW_RING];
};

/* Note an interrupt. Runs in the signal handler. */
static void overflow_cpu_note(struct overflow_cpu *cpu, uint64_t vector, const void *address,
                              const void *context)
{
    uint64_t now_ns = session_clock_now_ns(cpu->overflows->clock);
    unsigned written = atomic_load_explicit(&cpu->written, memory_order_relaxed);
    struct overflow_interrupt *entry = &cpu->ring[written % OVERFLOW_RING];

    cpu->lost++;
    if (written - atomic_load_explicit(&cpu->read, memory_order_acquire) == OVERFLOW_RING) {
        return;
    }
    entry->crossing = (struct apapi_overflow_crossing){.count = cpu->lost,
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
    entry->context.uc_mcontext.fpregs = NULL; /* it points into the signal's stack */
#endif
    atomic_store_explicit(&cpu->written, written + 1, memory_order_release);
}

static void overflow_cpu_signal(struct source_overflow_counter *const counters[], size_t count,
                                const void *address, const void *context)
{
    int saved = errno;

    for (size_t i = 0; i < count; i++) {
        struct overflow_cpu *cpu = (struct overflow_cpu *)counters[i];
        uint64_t vector = 0;

        for (size_t k = 0; k < count; k++) {
            const struct overflow_cpu *other = (const struct overflow_cpu *)counters[k];

            vector |= other->overflows == cpu->overflows ? UINT64_C(1) << other->number : 0;
        }
        overflow_cpu_note(cpu, vector, address, context);
        sem_post(&cpu->overflows->semaphore);
    }
    errno = saved;
}

static int overflow_cpu_prepare(struct overflows *overflows, const struct apapi_overflow *what,
                                struct overflow_slot *slot, struct apapi_error *err)
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
    slot->cpu = calloc(1, sizeof *slot->cpu);
    if (!slot->cpu) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    slot->cpu->overflows = overflows;
    slot->cpu->counter =
        (struct source_overflow_counter){.threshold = (int)what->threshold,
                                         .software = (what->mode & APAPI_OVERFLOW_SOFTWARE) != 0,
                                         .handler = overflow_cpu_signal};
    return 0;
}

/* Count in the calling thread from now on. @return `number`; -1 with errno: its slot is free */
static int overflow_cpu_begin(struct overflows *overflows, int number, struct apapi_error *err)
{
    struct overflow_slot *slot = &overflows->slots[number];
    int saved;

    slot->cpu->counter.event = slot->event;
    slot->cpu->number = number;
    if (apapi_route_overflow->begin(&slot->cpu->counter, err) == 0) {
        return number;
    }
    saved = errno; /* there is no PAPI, or it cannot be used */
    pthread_mutex_lock(&overflows->mutex);
    overflow_free_slot(slot);
    pthread_mutex_unlock(&overflows->mutex);
    errno = saved == ENOSYS || saved == ENODEV || saved == EACCES ? ENOTSUP : saved;
    return -1;
}

/* @param cpu  NULL is allowed. @return the oldest interrupt that has not been told; NULL: none */
static const struct overflow_interrupt *overflow_cpu_next(const struct overflow_cpu *cpu)
{
    unsigned read = cpu ? atomic_load_explicit(&cpu->read, memory_order_relaxed) : 0;

    return !cpu || read == atomic_load_explicit(&cpu->written, memory_order_acquire)
               ? NULL
               : &cpu->ring[read % OVERFLOW_RING];
}

/* Take overflow_cpu_next(). @param interrupt  result; the crossing points to it */
static struct apapi_overflow_crossing overflow_cpu_take(struct overflow_cpu *cpu,
                                                        struct overflow_interrupt *interrupt)
{
    struct apapi_overflow_crossing *crossing = &interrupt->crossing;

    *interrupt = *overflow_cpu_next(cpu);
    atomic_fetch_add_explicit(&cpu->read, 1, memory_order_release);
    cpu->told += crossing->count;
    crossing->value = crossing->seen_value = (double)cpu->told * cpu->counter.threshold;
    crossing->context = &interrupt->context;
    return *crossing;
}

/* --- handlers --------------------------------------------------------------------------------- */

/* @return the time of the first crossing that is not told yet [ns]; UINT64_MAX: there is none */
static uint64_t overflow_first_ns(const struct overflow_slot *slot)
{
    const struct overflow_interrupt *next = overflow_cpu_next(slot->cpu);

    return slot->news.count > 0 ? slot->news.first_ns : next ? next->crossing.time_ns : UINT64_MAX;
}

/* @return the threshold with the oldest crossing that is not told yet; NULL: none. */
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

/* Call the next handler. With the mutex, but not during the call. @return false: none. */
static bool overflow_tell_next(struct overflows *overflows)
{
    struct overflow_slot *slot = overflow_oldest(overflows);
    struct apapi_overflow_crossing crossing;
    struct overflow_interrupt interrupt;
    struct overflow_slot told;

    if (!slot) {
        return false;
    }
    crossing = slot->cpu ? overflow_cpu_take(slot->cpu, &interrupt) : slot->news;
    slot->news.count = 0;
    told = *slot;
    crossing.event = told.event;
    crossing.unit = told.unit;
    crossing.overflow = overflows->telling = (int)(slot - overflows->slots);
    pthread_mutex_unlock(&overflows->mutex);
    told.what.handler(&crossing, told.what.user);
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

/* Call the handlers. One of them may end the thread. */
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

/* With the mutex: start the thread for handlers, if needed. @return 0; -1: there can be none */
static int overflow_start(struct overflows *overflows)
{
    struct session_clock *clock = overflows->clock;

    if (!overflows->ended && !overflows->started && !overflow_by_hand(overflows)) {
        overflows->hold(overflows->owner, true);
        overflows->started =
            clock->start(clock, &overflows->thread, overflow_thread, overflows) == 0;
        if (!overflows->started) {
            overflows->hold(overflows->owner, false);
            return -1;
        }
    }
    return overflows->ended ? -1 : 0; /* a handler has ended it */
}

static bool overflow_in_handler(const struct overflows *overflows)
{
    return overflow_by_hand(overflows)
               ? overflows->telling >= 0
               : overflows->started && pthread_equal(overflows->thread, pthread_self());
}

/* Wait until one more handler was called; without a thread, call it. @return false: too late */
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

/*
 * With the mutex: wait until all crossings of a removed threshold are told; not in a handler.
 * @return 0; -1 with errno EBUSY: this has taken too long, and the rest is dropped
 */
static int overflow_await_left(struct overflows *overflows, int number, uint64_t patience_ns)
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
    do { /* until its handler is not called any more */
        left =
            overflows->telling != number && (slot->state != OVERFLOW_LEAVING || overflows->ended);
    } while (!left && overflow_wait(overflows, deadline_ns));
    if (slot->state == OVERFLOW_LEAVING) { /* the handler hangs, or the thread has ended */
        overflow_free_slot(slot);
    }
    errno = left ? errno : EBUSY;
    return left ? 0 : -1;
}

void overflow_end(struct overflows *overflows)
{
    uint64_t deadline_ns = session_clock_now_ns(overflows->clock) + END_WAIT_NS;
    bool ended;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        if (overflows->slots[i].cpu) {
            apapi_route_overflow->end(&overflows->slots[i].cpu->counter);
        }
    }
    pthread_mutex_lock(&overflows->mutex);
    overflows->ending = true;
    sem_post(&overflows->semaphore);
    while (overflows->started && !overflows->ended && overflow_wait(overflows, deadline_ns)) {
    }
    ended = overflows->ended;
    pthread_mutex_unlock(&overflows->mutex);
    if (overflows->started) {
        overflows->clock->leave(overflows->clock, overflows->thread, ended);
    }
}

/* --- the meter of a threshold ----------------------------------------------------------------- */

struct overflow_search {
    const char *name;
    bool found, opening;    /* `opening`: a component that may have it is not open yet */
    struct nearest similar; /* names of events */
    char missing[192];      /* why the first component that may have it is not measured */
};

/* Energy and power both have a total in J and a level in W. @param unit  of the event */
static void overflow_set_unit(struct overflow_slot *slot, const char *unit)
{
    bool counts = slot->target.counts;

    if (slot->kind == APAPI_KIND_ENERGY || slot->kind == APAPI_KIND_POWER) {
        snprintf(slot->unit, sizeof slot->unit, "%s", counts ? "J" : "W");
    } else {
        snprintf(slot->unit, sizeof slot->unit, "%s%s", unit,
                 counts || !slot->accumulates ? "" : "/s");
    }
}

/* @return whether a component may have meters of the domain (NONE: of the node), for messages. */
static bool overflow_may_have(const char *component, size_t domain)
{
    bool of_cpus = text_names_have("rapl,powercap,hwmon,cray_pm", component);
    bool of_gpus = text_names_have("nvml,rocm_smi,amd_smi,intel_gpu,hwmon,cray_pm", component);

    return domain == APAPI_DOMAIN_NODE   ? text_names_have("ipmi,hwmon,cray_pm,estimate", component)
           : domain == APAPI_DOMAIN_GPU  ? of_gpus
           : domain == APAPI_DOMAIN_NONE ? of_cpus || of_gpus
                                         : of_cpus;
}

/* Search a component for the event, or for meters of the domain or of a part of the node. */
static void overflow_search_in(const struct component *component, struct overflow_search *search,
                               struct overflow_slot *slot, size_t number)
{
    bool of_event = slot->target.subject == OVERFLOW_EVENT, here = false, may_have;
    double time_s = slot->target.counts ? 1 : (double)component->interval_ns / 1e9;
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
            slot->target.component = number;
            slot->kind = event->kind;
            slot->accumulates = event->accumulates;
            overflow_set_unit(slot, event->unit);
        }
        if (event->accumulates && event->type != APAPI_TYPE_FP64) {
            slot->step = fmax(slot->step, event->scale / time_s);
        }
        here = true;
    }
    /* the name of an event's component is before ":::"; without it, any component may have it */
    may_have = !of_event || !strstr(search->name, ":::") ||
               (strncmp(search->name, component->name, length) == 0 &&
                strncmp(search->name + length, ":::", 3) == 0);
    search->opening |= component->to_open && may_have;
    may_have &= of_event || overflow_may_have(component->name, slot->target.index);
    if (may_have && *search->missing == '\0' && !component->reader && *component->reason.text) {
        snprintf(search->missing, sizeof search->missing, "%s: %.120s", component->name,
                 component->reason.text);
    }
    search->found |= here;
}

static int overflow_find(struct sampling *sampling, struct overflow_slot *slot,
                         struct apapi_error *err)
{
    struct overflow_search search = {.name = slot->what.event};
    enum apapi_domain domain = apapi_domain_find(search.name);
    char similar[112] = "";

    if (domain != APAPI_DOMAIN_NONE || strcmp(search.name, LIMIT_TOTAL_NAME) == 0) {
        slot->target.subject = OVERFLOW_DOMAIN;
        slot->target.index = domain;
    }
    nearest_begin(&search.similar, search.name);
    for (size_t i = 0;
         i < sampling->count && !(search.found && slot->target.subject == OVERFLOW_EVENT); i++) {
        pthread_mutex_t *mutex = sampling_lock(sampling, i);

        overflow_search_in(&sampling->components[i], &search, slot, i);
        pthread_mutex_unlock(mutex);
    }
    if (search.found) {
        return 0;
    }
    if (search.opening) {
        return apapi_fail(err, EAGAIN, "%.100s: a component is still being opened", search.name);
    }
    if (*search.missing) {
        return apapi_fail(err, ENOENT, "%.60s: this session does not measure it: %s", search.name,
                          search.missing);
    }
    nearest_text(&search.similar, similar, sizeof similar);
    return apapi_fail(err, ENOENT, "%.80s: this session measures no such event or domain%s",
                      search.name,
                      slot->target.subject == OVERFLOW_EVENT && *similar == '\0'
                          ? "; 'apapi list' shows all events"
                          : similar);
}

/* --- checking --------------------------------------------------------------------------------- */

static int overflow_check_words(const struct apapi_overflow *what, struct apapi_error *err)
{
    const char *wrong = NULL;

    if (what->mode > APAPI_OVERFLOW_BELOW) {
        return apapi_fail(err, EINVAL, "%.100s: mode 0x%x is not known", what->event, what->mode);
    }
    if (!isfinite(what->threshold)) {
        wrong = "the threshold is no finite number";
    } else if (!isfinite(what->hysteresis) || what->hysteresis < 0) {
        wrong = "hysteresis must be a number from 0";
    } else if (limit_counts(what->mode) && (what->hold_ns > 0 || what->hysteresis > 0)) {
        wrong = "a total has neither a time to hold nor hysteresis";
    }
    return wrong ? apapi_fail(err, EINVAL, "%.100s: %s", what->event, wrong) : 0;
}

static int overflow_check(const struct apapi_overflow *what, const struct overflow_slot *slot,
                          struct apapi_error *err)
{
    bool counts = slot->target.counts;
    bool any_sign = slot->kind == APAPI_KIND_TEMPERATURE && !counts;

    if (what->unit && strcmp(what->unit, slot->unit) != 0) {
        return apapi_fail(err, EDOM, "%.100s: a threshold in %s, not in %s", what->event,
                          *slot->unit ? slot->unit : "its own unit", what->unit);
    }
    if (!any_sign && what->threshold <= 0) {
        return apapi_fail(err, EINVAL, "%.100s: the threshold %g is not above 0", what->event,
                          what->threshold);
    }
    if (counts && !slot->accumulates && slot->kind != APAPI_KIND_POWER) {
        return apapi_fail(err, EINVAL, "%.100s is a gauge: it has no total", what->event);
    }
    if (what->mode == APAPI_OVERFLOW_ABOVE && !any_sign && what->hysteresis >= what->threshold) {
        return apapi_fail(err, EINVAL, "%.100s: hysteresis must be less than the threshold",
                          what->event);
    }
    if (what->threshold < slot->step) {
        return apapi_fail(err, ERANGE, "%.100s: the threshold %g %s is below its resolution, %g %s",
                          what->event, what->threshold, slot->unit, slot->step, slot->unit);
    }
    return 0;
}

/* Fill a slot with a threshold that can be set. @return 0; -1 with errno */
static int overflow_prepare(struct sampling *sampling, const struct apapi_overflow *what,
                            struct overflow_slot *slot, struct apapi_error *err)
{
    *slot = (struct overflow_slot){.state = OVERFLOW_SET,
                                   .target.counts = limit_counts(what->mode),
                                   .what = *what,
                                   .kind = APAPI_KIND_ENERGY,
                                   .accumulates = true};
    strncpy(slot->event, what->event, sizeof slot->event - 1);
    if (what->mode & (APAPI_OVERFLOW_HARDWARE | APAPI_OVERFLOW_SOFTWARE)) {
        return overflow_cpu_prepare(&sampling->common.overflows, what, slot, err);
    }
    overflow_set_unit(slot, "J");
    return overflow_check_words(what, err) || overflow_find(sampling, slot, err)
               ? -1
               : overflow_check(what, slot, err);
}

/* --- setting ---------------------------------------------------------------------------------- */

/* Add up what was measured in this run before: from now on, readings are looked at. */
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

/* With the mutex: give it values from now on; if others have had some already, in another watch. */
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
    if (!found) { /* there are as many watches as thresholds */
        found = &overflows->watches[overflows->watch_count++];
    }
    if (!found->limits.first) {
        *found = (struct overflow_watch){.target = *target};
    }
    slot->watch = found;
    slot->limit = (struct limit_state){.mode = (enum apapi_overflow_mode)slot->what.mode,
                                       .level = slot->what.threshold,
                                       .hold_ns = slot->what.hold_ns,
                                       .hysteresis = slot->what.hysteresis};
    limit_join(&found->limits, &slot->limit);
}

static void overflow_unwatch(struct overflow_slot *slot)
{
    if (slot->watch) {
        limit_leave(&slot->watch->limits, &slot->limit);
    }
    slot->watch = NULL;
}

/* Take a free slot for a threshold. @return its number; -1 with errno ENOSPC, ENOMEM. */
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
            apapi_fail(err, ENOMEM, "%.100s: no thread can be started for handlers", slot->event);
    } else {
        overflows->slots[number] = *slot;
        overflows->slots[number].what.event = overflows->slots[number].event;
        overflows->slots[number].what.unit = NULL;
        if (!slot->cpu) {
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
    if (!slot.cpu && atomic_fetch_add(&overflows->active, 1) == 0) {
        overflow_catch_up(sampling);
    }
    number = overflow_reserve(overflows, &slot, err);
    if (number >= 0) {
        return slot.cpu ? overflow_cpu_begin(overflows, number, err) : number;
    }
    if (!slot.cpu) {
        atomic_fetch_sub(&overflows->active, 1);
    }
    free(slot.cpu);
    return -1;
}

/* With the mutex. @return the threshold; NULL: none is set that has this number. */
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
    struct overflow_slot *slot;
    struct apapi_overflow what;
    int result;

    pthread_mutex_lock(&overflows->mutex);
    slot = overflow_slot(overflows, number);
    if (!slot) {
        result = apapi_fail(err, EINVAL, "there is no threshold %d", number);
    } else if (slot->cpu) {
        result = apapi_fail(err, ENOTSUP, "%.100s: PAPI counts it: remove it and set it again",
                            slot->event);
    } else {
        what = slot->what;
        what.threshold = threshold;
        result = overflow_check_words(&what, err) || overflow_check(&what, slot, err) ? -1 : 0;
    }
    if (result == 0) { /* earlier crossings are still told */
        overflow_unwatch(slot);
        slot->what.threshold = threshold;
        overflow_watch(overflows, slot);
    }
    pthread_mutex_unlock(&overflows->mutex);
    return result;
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
    } else if (slot->cpu && !apapi_route_overflow->is_mine(&slot->cpu->counter)) {
        errno = EPERM;
    } else {
        if (slot->cpu) {
            apapi_route_overflow->end(&slot->cpu->counter);
        } else {
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
