/* SPDX-License-Identifier: BSD-3-Clause */
#include "sources/node/readings_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/shared_page.h"
#include "base/thread.h"
#include "sources/sources.h"

#define SEEN_LEAST 10000 /* readings: the device is above all of them for 3 / 10000 of the time */

_Static_assert(sizeof(struct readings_value) == 2 * sizeof(uint64_t), "values are copied by words");

/* The node sampler. */

static void readings_page_change(struct readings_component *component, uint32_t sequence)
{
    __atomic_store_n(&component->sequence, sequence, __ATOMIC_RELEASE);
}

/* Its old contents are not valid any more; a writer that was killed has left the number odd. */
static void readings_page_wake(struct readings_component *component)
{
    readings_page_change(component, (component->sequence | 1) + 1);
    futex_wake(&component->sequence);
}

static void readings_page_live(struct readings_page *page, uint64_t life)
{
    __atomic_store_n(&page->component_count, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page->life, life, __ATOMIC_RELEASE);
    for (int i = 0; i < READINGS_COMPONENTS; i++) {
        readings_page_wake(&page->components[i]);
    }
}

void readings_page_begin(struct readings_page *page, uint64_t life)
{
    page->version = READINGS_VERSION;
    page->size = sizeof *page;
    readings_page_live(page, life);
    memcpy(page->magic, READINGS_MAGIC, sizeof page->magic);
}

void readings_page_end(struct readings_page *page)
{
    readings_page_live(page, 0);
}

static uint32_t readings_page_next_event(const struct readings_page *page)
{
    uint64_t count = page->component_count;
    const struct readings_component *last = &page->components[count > 0 ? count - 1 : 0];

    return count > 0 ? last->first + last->count : 0;
}

int readings_page_add(struct readings_page *page, const char *name,
                      const struct apapi_reader *reader)
{
    uint64_t number = page->component_count;
    uint32_t first = readings_page_next_event(page);
    struct readings_component *component = &page->components[number];
    int name_size = (int)sizeof component->name, source_size = (int)sizeof component->source;

    if (number >= READINGS_COMPONENTS || reader->count > READINGS_EVENTS - first) {
        errno = ENOSPC;
        return -1;
    }
    if (snprintf(component->name, sizeof component->name, "%s", name) >= name_size ||
        snprintf(component->source, sizeof component->source, "%s", reader->source->name) >=
            source_size) {
        errno = EINVAL;
        return -1;
    }
    memcpy(component->detail, reader->detail, sizeof component->detail);
    for (size_t i = 0; i < reader->count; i++) {
        page->events[first + i] = (struct readings_event){.event = reader->events[i]};
    }
    component->first = first;
    component->slow = reader->own_worker;
    __atomic_store_n(&component->gone, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&component->begin_ns, 0, __ATOMIC_RELAXED);
    component->count = (uint32_t)reader->count;
    __atomic_store_n(&page->component_count, number + 1, __ATOMIC_RELEASE);
    return (int)number;
}

/* Its events keep their places: others come behind them. */
void readings_page_withdraw(struct readings_page *page, int number)
{
    struct readings_component *component = &page->components[number];

    __atomic_store_n(&component->gone, 1, __ATOMIC_RELEASE);
    readings_page_wake(component);
}

static void readings_page_see(struct readings_event *of, const struct apapi_reading *reading)
{
    double power_w = apapi_event_value(&of->event, reading->raw);

    if (of->event.kind == APAPI_KIND_POWER && !of->event.accumulates && reading->error == 0 &&
        isfinite(power_w)) {
        of->seen_w = fmaxf(of->seen_w, (float)power_w);
        __atomic_store_n(&of->seen, of->seen + 1, __ATOMIC_RELEASE);
    }
}

void readings_page_write(struct readings_page *page, int number,
                         const struct apapi_reading *readings, uint64_t begin_ns, uint64_t end_ns)
{
    struct readings_component *component = &page->components[number];
    const uint64_t times_ns[2] = {begin_ns, end_ns};

    readings_page_change(component, component->sequence | 1);
    for (uint32_t i = 0; i < component->count; i++) {
        const struct readings_value value = {readings[i].raw, (uint64_t)readings[i].error};

        shared_words_store(&page->values[component->first + i], &value, 2);
        readings_page_see(&page->events[component->first + i], &readings[i]);
    }
    shared_words_store(&component->begin_ns, times_ns, 2);
    readings_page_wake(component);
}

/* Those who read. */

uint64_t readings_page_life(const struct readings_page *page)
{
    return __atomic_load_n(&page->life, __ATOMIC_ACQUIRE);
}

bool readings_page_is_valid(const struct readings_page *page)
{
    return memcmp(page->magic, READINGS_MAGIC, sizeof page->magic) == 0 &&
           page->version == READINGS_VERSION && page->size == sizeof *page &&
           readings_page_life(page) != 0;
}

static bool readings_page_is_gone(const struct readings_component *component)
{
    return __atomic_load_n(&component->gone, __ATOMIC_ACQUIRE) != 0;
}

static bool readings_page_has_room(const struct readings_component *component)
{
    return component->count > 0 && component->count <= READINGS_EVENTS &&
           component->first <= READINGS_EVENTS - component->count;
}

int readings_page_find(const struct readings_page *page, const char *name)
{
    uint64_t count = __atomic_load_n(&page->component_count, __ATOMIC_ACQUIRE);

    for (uint64_t i = 0; i < count && i < READINGS_COMPONENTS; i++) {
        const struct readings_component *component = &page->components[i];

        if (strncmp(component->name, name, sizeof component->name) == 0 &&
            !readings_page_is_gone(component) && readings_page_has_room(component)) {
            return (int)i;
        }
    }
    return -1;
}

static bool readings_page_is_event(const struct apapi_event *event)
{
    return memchr(event->name, '\0', sizeof event->name) &&
           memchr(event->unit, '\0', sizeof event->unit) && event->kind < APAPI_KINDS &&
           event->domain < APAPI_DOMAINS && event->type <= APAPI_TYPE_BIT64 &&
           isfinite(event->scale) && event->scale > 0 && event->guard_j >= 0 && event->most_w >= 0;
}

bool readings_page_event(const struct readings_page *page, int number, size_t index,
                         struct apapi_event *event)
{
    struct readings_event from = page->events[page->components[number].first + index];

    from.event.most_w = from.seen >= SEEN_LEAST ? from.seen_w : from.event.most_w;
    if (!readings_page_is_event(&from.event)) {
        return false;
    }
    *event = from.event;
    return true;
}

/* @return whether the reading was not being written meanwhile. */
static bool readings_page_copy(const struct readings_page *page,
                               const struct readings_wanted *wanted, uint32_t sequence,
                               struct apapi_reading *readings, uint64_t times_ns[2])
{
    const struct readings_component *component = &page->components[wanted->number];
    uint32_t first = component->first;

    for (size_t i = 0; i < wanted->count && first + i < READINGS_EVENTS; i++) {
        struct readings_value value;

        shared_words_load(&value, &page->values[first + i], 2);
        readings[i] = (struct apapi_reading){value.raw, (int)value.error};
    }
    shared_words_load(times_ns, &component->begin_ns, 2);
    return sequence % 2 == 0 && __atomic_load_n(&component->sequence, __ATOMIC_RELAXED) == sequence;
}

int readings_page_await(const struct readings_page *page, const struct readings_wanted *wanted,
                        struct apapi_reading *readings, uint64_t times_ns[2])
{
    const struct readings_component *component = &page->components[wanted->number];

    for (;;) {
        uint32_t sequence = __atomic_load_n(&component->sequence, __ATOMIC_ACQUIRE);
        bool whole = readings_page_copy(page, wanted, sequence, readings, times_ns);

        if (readings_page_life(page) != wanted->life || readings_page_is_gone(component)) {
            return ESTALE;
        }
        if (whole && times_ns[0] >= wanted->since_ns) {
            return 0;
        }
        if (clock_monotonic_ns() >= wanted->deadline_ns) {
            return ETIMEDOUT;
        }
        futex_wait(&component->sequence, sequence, wanted->deadline_ns);
    }
}
