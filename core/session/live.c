/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/live.h"

#include <math.h>
#include <stdio.h>

#include "session/live_page.h"

_Static_assert(APAPI_DOMAINS <= APAPI_LIVE_DOMAINS, "the page has too few domains");

void live_begin(struct apapi_live_page *page, int64_t unix_ns, uint64_t now_ns)
{
    if (page) {
        page->head.start_unix_ns = unix_ns;
        page->head.start_ns = now_ns;
        page->head.end_ns = 0;
        __atomic_store_n(&page->head.state, APAPI_LIVE_STARTING, __ATOMIC_RELEASE);
    }
}

void live_run(struct apapi_live_page *page)
{
    if (page) {
        __atomic_store_n(&page->head.state, APAPI_LIVE_RUNNING, __ATOMIC_RELEASE);
    }
}

void live_end(struct apapi_live_page *page, uint64_t now_ns)
{
    if (page) {
        page->head.end_ns = now_ns;
        __atomic_store_n(&page->head.state, APAPI_LIVE_ENDED, __ATOMIC_RELEASE);
    }
}

static void live_forget(struct apapi_live_slot *slot, uint64_t interval_ns, bool estimated)
{
    const struct apapi_live_slot nothing = {.total = NAN,
                                            .rate = NAN,
                                            .interval_ns = interval_ns,
                                            .flags = APAPI_LIVE_MEASURED |
                                                     (estimated ? APAPI_LIVE_ESTIMATED : 0u)};

    live_slot_write(slot, &nothing);
}

void live_restart(struct apapi_live_page *page, const struct component *component,
                  const struct feed feeds[APAPI_DOMAINS])
{
    if (!page) {
        return;
    }
    for (size_t i = 0; i < component->live_count; i++) {
        live_forget(&page->events[component->live_first + i], component->interval_ns,
                    component->events[i].estimated);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used && feeds[d].index == SIZE_MAX) {
            live_forget(&page->domains[d], component->interval_ns, false);
        }
    }
}

static void name(struct apapi_live_event *entry, const struct apapi_event *event)
{
    snprintf(entry->name, sizeof entry->name, "%s", event->name);
    snprintf(entry->unit, sizeof entry->unit, "%s", event->unit);
    entry->kind = event->kind;
    entry->domain = event->domain;
    entry->accumulates = event->accumulates;
    entry->slices = event->slices;
    entry->slices_all = event->slices_all;
}

void live_join(struct apapi_live_page *page, struct component *component,
               const struct feed feeds[APAPI_DOMAINS])
{
    size_t first, room;

    if (!page) {
        return;
    }
    first = page->head.event_count;
    room = APAPI_LIVE_EVENTS - first;
    component->live_first = first;
    component->live_count = component->event_count < room ? component->event_count : room;
    for (size_t i = 0; i < component->live_count; i++) {
        name(&page->names[first + i], &component->events[i]);
    }
    live_restart(page, component, feeds);
    __atomic_store_n(&page->head.event_count, (uint32_t)(first + component->live_count),
                     __ATOMIC_RELEASE);
}

/* What the meters that feed a domain say together. */
struct sum {
    double total_j;
    bool failed; /* one of their latest readings */
};

static uint64_t with_failure(uint64_t flags, bool failed)
{
    return failed ? flags | APAPI_LIVE_FAILED : flags & ~(uint64_t)APAPI_LIVE_FAILED;
}

/* @param known_ns  when the latest good reading was */
static void write_figures(struct apapi_live_slot *slot, double total, double rate,
                          uint64_t known_ns, bool failed)
{
    struct apapi_live_slot figures = *slot; /* nobody else writes it */

    figures.readings += known_ns != figures.time_ns;
    figures.time_ns = known_ns;
    figures.total = total;
    figures.rate = rate;
    figures.flags = with_failure(figures.flags, failed);
    live_slot_write(slot, &figures);
}

static void show_domain(struct apapi_live_slot *slot, const struct apapi_domain_meter *domain,
                        const struct sum *sum)
{
    bool news = domain->open && domain->open_ns != slot->time_ns;

    write_figures(slot, news ? sum->total_j : slot->total, domain->rate.last,
                  domain->open ? domain->open_ns : 0, sum->failed);
}

/* The figures of another component's meters are no continuation of those before. */
static void show_domains(struct apapi_live_page *page, const struct component *component,
                         size_t index, struct feed feeds[APAPI_DOMAINS],
                         const struct sum sums[APAPI_DOMAINS])
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t late_ns = component_late_ns(component, d, sums[d].total_j);
        size_t before = feeds[d].index;

        if (!component->domains[d].used || !feed_offer(&feeds[d], index, late_ns)) {
            continue;
        }
        if (before != index) {
            live_forget(&page->domains[d], component->interval_ns, false);
        }
        show_domain(&page->domains[d], &component->domains[d], &sums[d]);
    }
}

void live_show(struct apapi_live_page *page, const struct component *component, size_t index,
               struct feed feeds[APAPI_DOMAINS])
{
    struct sum sums[APAPI_DOMAINS] = {{0}};

    if (!page) {
        return;
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_meter *meter = &component->meters[i];
        bool failed = component->raw[component->slots[i]].error != 0;
        double total = apapi_meter_total(meter);
        struct sum *sum = &sums[component->feeds[i]];

        sum->total_j += total;
        sum->failed |= failed;
        if (i < component->live_count) {
            write_figures(&page->events[component->live_first + i], total, apapi_meter_rate(meter),
                          apapi_meter_known_ns(meter), failed);
        }
    }
    show_domains(page, component, index, feeds, sums);
}

/* What a meter has counted while others of its domain were late is in the result, too. */
void live_finish(struct apapi_live_page *page, const struct component *component, size_t index,
                 const struct feed feeds[APAPI_DOMAINS])
{
    double totals_j[APAPI_DOMAINS] = {0};

    if (!page || !component->source) {
        return;
    }
    for (size_t i = 0; i < component->meter_count; i++) {
        totals_j[component->feeds[i]] += apapi_meter_total(&component->meters[i]);
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used && feeds[d].index == index) {
            struct apapi_live_slot figures = page->domains[d];

            figures.total = totals_j[d];
            live_slot_write(&page->domains[d], &figures);
        }
    }
}
