/* SPDX-License-Identifier: BSD-3-Clause */
#include "ms_common/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "apapi/live.h"

#define EVENTS_MAX (APAPI_LIVE_EVENTS + APAPI_LIVE_DOMAINS)
#define BEGIN_TRIES 100 /* of 5 ms: as long as a step may be about to begin */

struct page {
    const struct apapi_live_page *live;
    size_t count;
    struct apapi_event events[EVENTS_MAX];
    const struct apapi_live_slot *slots[EVENTS_MAX];
    double begin_j[EVENTS_MAX];        /* energy at the start; NaN: not known yet */
    struct course courses[EVENTS_MAX]; /* of gauges */
    struct figure figures[EVENTS_MAX];
    uint64_t start_ns;
};

static const struct figure unknown = {NAN, NAN, NAN, NAN, NAN};

static bool page_is_energy(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER;
}

static bool page_same_component(const char *a, const char *b)
{
    size_t length = strcspn(a, ":");

    return length == strcspn(b, ":") && strncmp(a, b, length) == 0;
}

/* One component for each domain: two that measure the same must not be added up. */
static bool page_is_double(const struct page *page, const struct apapi_event *event)
{
    for (size_t i = 0; page_is_energy(event) && i < page->count; i++) {
        if (page_is_energy(&page->events[i]) && page->events[i].domain == event->domain &&
            !page_same_component(page->events[i].name, event->name)) {
            return event->domain != APAPI_DOMAIN_NONE;
        }
    }
    return false;
}

static void page_add(struct page *page, const struct apapi_event *event,
                     const struct apapi_live_slot *slot)
{
    struct apapi_live_slot copy;

    if (apapi_live_read(slot, &copy) && copy.flags & APAPI_LIVE_MEASURED &&
        !(copy.flags & APAPI_LIVE_ESTIMATED) && !page_is_double(page, event)) {
        page->events[page->count] = *event;
        page->slots[page->count++] = slot;
    }
}

static void page_add_events(struct page *page)
{
    uint32_t count = apapi_live_event_count(page->live);

    for (uint32_t i = 0; i < count; i++) {
        const struct apapi_live_event *named = &page->live->names[i];
        struct apapi_event event = {.kind = (enum apapi_kind)named->kind,
                                    .domain = (enum apapi_domain)named->domain,
                                    .accumulates = named->accumulates};

        snprintf(event.name, sizeof event.name, "%.*s", APAPI_NAME_SIZE - 1, named->name);
        page_add(page, &event, &page->live->events[i]);
    }
}

static bool page_has_domain(const struct page *page, enum apapi_domain domain)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page_is_energy(&page->events[i]) && page->events[i].domain == domain) {
            return true;
        }
    }
    return false;
}

/* A step's event list may hide events; their domains are there. */
static void page_add_domains(struct page *page)
{
    for (enum apapi_domain d = APAPI_DOMAIN_PACKAGE; d < APAPI_DOMAINS; d++) {
        struct apapi_event event = {.kind = APAPI_KIND_ENERGY, .domain = d, .accumulates = true};

        snprintf(event.name, sizeof event.name, "%s",
                 d == APAPI_DOMAIN_NODE ? "ipmi:::SYSTEM_POWER" : apapi_domain_name(d));
        if (!page_has_domain(page, d)) {
            page_add(page, &event, &page->live->domains[d]);
        }
    }
}

struct page *page_open(void)
{
    const struct apapi_live_page *live = apapi_live_open(NULL, NULL);
    struct page *page = live ? calloc(1, sizeof *page) : NULL;
    const struct timespec pause = {.tv_nsec = 5000000};

    if (!page) {
        apapi_live_close(live);
        return NULL;
    }
    page->live = live;
    for (int i = 0; i < BEGIN_TRIES && apapi_live_state(live) == APAPI_LIVE_STARTING; i++) {
        nanosleep(&pause, NULL);
    }
    page_add_events(page);
    page_add_domains(page);
    return page;
}

struct event_table page_events(const struct page *page)
{
    return (struct event_table){page->events, sizeof *page->events, page->count};
}

bool page_has(const struct page *page, enum resource resource)
{
    struct event_table events;
    struct map map;
    bool has;

    if (!page) {
        return false;
    }
    events = page_events(page);
    if (map_build(&map, resource, &events)) {
        return false;
    }
    has = map.count > 0;
    map_clear(&map);
    return has;
}

void page_start(struct page *page, uint64_t now_ns)
{
    page->start_ns = now_ns;
    for (size_t i = 0; i < page->count; i++) {
        struct apapi_live_slot copy;

        page->begin_j[i] = apapi_live_read(page->slots[i], &copy)
                               ? apapi_live_energy_at_j(&copy, now_ns)
                               : (double)NAN;
        page->courses[i] = (struct course){0};
        page->figures[i] = unknown;
    }
}

/* A start before the first known figure has what its power makes of the time between them. */
static struct figure page_energy(struct page *page, size_t index,
                                 const struct apapi_live_slot *slot, uint64_t now_ns)
{
    double seconds = (double)(now_ns - page->start_ns) / 1e9, energy_j;

    if (isnan(page->begin_j[index])) {
        double since_s = ((double)slot->time_ns - (double)page->start_ns) / 1e9;

        energy_j = slot->total - slot->rate * since_s;
        page->begin_j[index] = energy_j < 0 ? 0 : energy_j;
    }
    energy_j = apapi_live_energy_at_j(slot, now_ns) - page->begin_j[index];
    energy_j = energy_j < 0 ? 0 : energy_j;
    return (struct figure){.total = energy_j,
                           .mean = seconds > 0 ? energy_j / seconds : NAN,
                           .max = NAN,
                           .sum = NAN,
                           .now = slot->rate};
}

const struct figure *page_read(struct page *page, uint64_t now_ns)
{
    for (size_t i = 0; i < page->count; i++) {
        struct apapi_live_slot copy;

        if (!apapi_live_read(page->slots[i], &copy)) {
            continue; /* as before */
        }
        if (page_is_energy(&page->events[i])) {
            page->figures[i] = page_energy(page, i, &copy, now_ns);
            continue;
        }
        if (isfinite(copy.rate)) {
            course_add(&page->courses[i], copy.rate, now_ns);
        }
        page->figures[i] = course_figure(&page->courses[i]);
    }
    return page->figures;
}

void page_close(struct page *page)
{
    if (page) {
        apapi_live_close(page->live);
        free(page);
    }
}
