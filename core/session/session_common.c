/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session_common.h"

#include <math.h>
#include <stdio.h>

#include "session/live.h"

_Static_assert(APAPI_DOMAINS <= APAPI_LIVE_DOMAINS, "the page has too few domains");

static void common_refer(void *common, bool more)
{
    if (more) {
        common_hold(common);
    } else {
        common_release(common);
    }
}

void common_init(struct session_common *common, struct session_clock *clock,
                 void (*destroy)(struct session_common *common))
{
    common->clock = clock;
    common->destroy = destroy;
    pthread_mutex_init(&common->reporting, NULL);
    pthread_mutex_init(&common->showing, NULL);
    feed_clear(common->shown);
    overflow_init(&common->overflows, clock, common_refer, common);
    atomic_init(&common->references, 1);
}

void common_clear(struct session_common *common)
{
    overflow_clear(&common->overflows);
    pthread_mutex_destroy(&common->showing);
    pthread_mutex_destroy(&common->reporting);
}

void common_hold(struct session_common *common)
{
    atomic_fetch_add(&common->references, 1);
}

void common_release(struct session_common *common)
{
    if (atomic_fetch_sub(&common->references, 1) == 1) {
        common->destroy(common);
    }
}

void common_start(struct session_common *common)
{
    common->start_ns = session_clock_now_ns(common->clock);
    pthread_mutex_lock(&common->showing);
    feed_clear(common->shown);
    pthread_mutex_unlock(&common->showing);
    overflow_restart(&common->overflows);
}

static size_t common_index(const struct session_common *common, const struct component *component)
{
    return (size_t)(component - common->components);
}

/* --- the live page -------------------------------------------------------------------------- */

static void live_forget(struct apapi_live_slot *slot, uint64_t interval_ns, bool estimated)
{
    const struct apapi_live_slot nothing = {.total = NAN,
                                            .rate = NAN,
                                            .interval_ns = interval_ns,
                                            .flags = APAPI_LIVE_MEASURED |
                                                     (estimated ? APAPI_LIVE_ESTIMATED : 0u)};

    live_slot_write(slot, &nothing);
}

/* Its figures start again. */
static void live_restart(const struct session_common *common, const struct component *component)
{
    for (size_t i = 0; i < component->live_count; i++) {
        live_forget(&common->live->events[component->live_first + i], component->interval_ns,
                    component->events[i].estimated);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        if (component->domains[d].used && common->shown[d].index == SIZE_MAX) {
            live_forget(&common->live->domains[d], component->interval_ns, false);
        }
    }
}

static void live_name(struct apapi_live_event *entry, const struct apapi_event *event)
{
    snprintf(entry->name, sizeof entry->name, "%s", event->name);
    snprintf(entry->unit, sizeof entry->unit, "%s", event->unit);
    entry->kind = event->kind;
    entry->domain = event->domain;
    entry->accumulates = event->accumulates;
    entry->slices = event->slices;
    entry->slices_all = event->slices_all;
}

void common_join(struct session_common *common, struct component *component)
{
    struct apapi_live_page *page = common->live;
    size_t first, room;

    if (!page) {
        return;
    }
    pthread_mutex_lock(&common->showing);
    first = page->head.event_count;
    room = APAPI_LIVE_EVENTS - first;
    component->live_first = first;
    component->live_count = component->event_count < room ? component->event_count : room;
    for (size_t i = 0; i < component->live_count; i++) {
        live_name(&page->names[first + i], &component->events[i]);
    }
    live_restart(common, component);
    __atomic_store_n(&page->head.event_count, (uint32_t)(first + component->live_count),
                     __ATOMIC_RELEASE);
    pthread_mutex_unlock(&common->showing);
}

void common_restart(struct session_common *common, struct component *component)
{
    component_restart(component, common->start_ns);
    if (common->live) {
        pthread_mutex_lock(&common->showing);
        live_restart(common, component);
        pthread_mutex_unlock(&common->showing);
    }
}

/* The meters that feed a domain, together. */
struct sum {
    double total_j;
    bool failed; /* one of their latest readings */
};

/* @param known_ns  when the latest good reading was */
static void write_figures(struct apapi_live_slot *slot, double total, double rate,
                          uint64_t known_ns, bool failed)
{
    struct apapi_live_slot figures = *slot; /* this is its only writer */

    figures.readings += known_ns != figures.time_ns;
    figures.time_ns = known_ns;
    figures.total = total;
    figures.rate = rate;
    figures.flags &= ~(uint64_t)APAPI_LIVE_FAILED;
    figures.flags |= failed ? APAPI_LIVE_FAILED : 0;
    live_slot_write(slot, &figures);
}

/* The figures of another component's meters are no continuation of those before. */
static void live_show_domains(struct session_common *common, const struct component *component,
                              const struct sum sums[APAPI_DOMAINS])
{
    size_t index = common_index(common, component);

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t late_ns = component_late_ns(component, d, sums[d].total_j);
        size_t before = common->shown[d].index;
        const struct apapi_domain_meter *domain = &component->domains[d];
        struct apapi_live_slot *slot = &common->live->domains[d];
        bool news;

        if (!domain->used || !feed_offer(&common->shown[d], index, late_ns)) {
            continue;
        }
        if (before != index) {
            live_forget(slot, component->interval_ns, false);
        }
        news = domain->open && domain->open_ns != slot->time_ns;
        write_figures(slot, news ? sums[d].total_j : slot->total, domain->rate.last,
                      domain->open ? domain->open_ns : 0, sums[d].failed);
    }
}

static void live_show(struct session_common *common, const struct component *component)
{
    struct sum sums[APAPI_DOMAINS] = {{0}};

    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_meter *meter = &component->meters[i];
        bool failed = component->raw[component->slots[i]].error != 0;
        double total = apapi_meter_total(meter);
        struct sum *sum = &sums[component->feeds[i]];

        sum->total_j += total;
        sum->failed |= failed;
        if (i < component->live_count) {
            write_figures(&common->live->events[component->live_first + i], total,
                          apapi_meter_rate(meter), meter->known_ns, failed);
        }
    }
    live_show_domains(common, component, sums);
}

static void live_set_total(struct apapi_live_slot *slot, double total)
{
    struct apapi_live_slot figures = *slot;

    figures.total = total;
    live_slot_write(slot, &figures);
}

/*
 * The result has also the energy that a meter has counted while others of its domain were late, and
 * since the latest reading that was shown.
 */
void common_finish(struct session_common *common, const struct component *component)
{
    size_t index = common_index(common, component);
    double totals_j[APAPI_DOMAINS] = {0};

    if (!common->live || !component->source) {
        return;
    }
    pthread_mutex_lock(&common->showing);
    for (size_t i = 0; i < component->meter_count; i++) {
        double total = apapi_meter_total(&component->meters[i]);

        totals_j[component->feeds[i]] += total;
        if (i < component->live_count) {
            live_set_total(&common->live->events[component->live_first + i], total);
        }
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t late_ns = component_late_ns(component, d, totals_j[d]);

        if (component->domains[d].used && feed_offer(&common->shown[d], index, late_ns)) {
            live_set_total(&common->live->domains[d], totals_j[d]);
        }
    }
    pthread_mutex_unlock(&common->showing);
}

/* --- a reading ------------------------------------------------------------------------------ */

void common_pass_on(struct session_common *common, const struct component *component,
                    struct apapi_moment when, bool dense)
{
    const struct session_reading reading = {component->name, component->reader, component->raw,
                                            when, dense};

    if (common->on_reading && component->reader) {
        common->on_reading(&reading, common->reading_context);
    }
}

void common_report(struct session_common *common, struct component *component)
{
    const struct apapi_sample sample = {.component = component->name,
                                        .time_ns = component->read_ns - common->start_ns,
                                        .event_count = component->event_count,
                                        .events = component->events,
                                        .readings = component->readings,
                                        .values = component->values,
                                        .spans_ns = component->spans_ns};

    if (common->live) {
        pthread_mutex_lock(&common->showing);
        live_show(common, component);
        if (common->on_live) {
            common->on_live(common->live, common->live_context);
        }
        pthread_mutex_unlock(&common->showing);
    }
    overflow_evaluate(&common->overflows, component, common_index(common, component));
    if (!common->on_sample) {
        return;
    }
    for (size_t i = 0; i < component->event_count; i++) {
        component->readings[i] = component->raw[component->slots[i]];
        component->values[i] = component->meters[i].value;
        component->spans_ns[i] = component->meters[i].value_ns;
    }
    pthread_mutex_lock(&common->reporting);
    common->on_sample(&sample, common->context);
    pthread_mutex_unlock(&common->reporting);
}
