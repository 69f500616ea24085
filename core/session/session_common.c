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
                                            .uncertainty_j = NAN,
                                            .interval_ns = interval_ns,
                                            .flags = APAPI_LIVE_MEASURED |
                                                     (estimated ? APAPI_LIVE_ESTIMATED : 0u)};

    live_slot_write(slot, &nothing);
}

/* Forget the figures of a component, and of its domains that no component feeds yet. */
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

/* The figures of a meter after a reading, or of all meters that feed a domain. */
struct shown {
    double total, uncertainty_j;
    bool failed; /* one of the latest readings has failed */
};

/* @param known_ns  when the latest good reading was */
static void write_figures(struct apapi_live_slot *slot, const struct shown *shown, double rate,
                          uint64_t known_ns)
{
    struct apapi_live_slot figures = *slot; /* this is its only writer */

    figures.readings += known_ns != figures.time_ns;
    figures.time_ns = known_ns;
    figures.total = shown->total;
    figures.uncertainty_j = shown->uncertainty_j;
    figures.rate = rate;
    figures.flags &= ~(uint64_t)APAPI_LIVE_FAILED;
    figures.flags |= shown->failed ? APAPI_LIVE_FAILED : 0;
    live_slot_write(slot, &figures);
}

/* Show the domains that the component feeds; forget what another component has shown of them. */
static void live_show_domains(struct session_common *common, const struct component *component,
                              struct shown sums[APAPI_DOMAINS], bool last)
{
    size_t index = common_index(common, component);

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        uint64_t late_ns = component_late_ns(component, d, sums[d].total);
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
        news = last || (domain->open && domain->open_ns != slot->time_ns);
        sums[d].total = news ? sums[d].total : slot->total;
        if (!news || isnan(sums[d].uncertainty_j)) {
            sums[d].uncertainty_j = slot->uncertainty_j;
        }
        write_figures(slot, &sums[d], domain->rate.last, domain->open ? domain->open_ns : 0);
    }
}

#define JUDGE_NS UINT64_C(50000000) /* least time between two computations of the uncertainty */

/* @param end_ns  end of the run; 0: it goes on */
static void live_show(struct session_common *common, struct component *component, uint64_t end_ns)
{
    uint64_t until_ns = end_ns ? end_ns : component->read_ns;
    const struct apapi_span span = {common->late_ns, until_ns - common->live->head.start_ns,
                                    end_ns};
    bool judges = end_ns || until_ns - component->judged_ns >= JUDGE_NS;
    struct shown sums[APAPI_DOMAINS] = {{0}};

    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_meter *meter = &component->meters[i];
        struct shown *sum = &sums[component->feeds[i]];
        struct shown own = {apapi_meter_total(meter),
                            judges ? apapi_meter_uncertainty_j(meter, &span) : NAN,
                            component->raw[component->slots[i]].error != 0};

        component->judged_ns = isnan(own.uncertainty_j) ? component->judged_ns : until_ns;
        sum->total += own.total;
        sum->uncertainty_j += own.uncertainty_j;
        sum->failed |= own.failed;
        if (i < component->live_count) {
            struct apapi_live_slot *slot = &common->live->events[component->live_first + i];

            own.uncertainty_j = judges ? own.uncertainty_j : slot->uncertainty_j;
            write_figures(slot, &own, apapi_meter_rate(meter), meter->known_ns);
        }
    }
    live_show_domains(common, component, sums, end_ns > 0);
}

/*
 * The result also has the energy that a meter has counted while other meters of its domain were
 * late, and since the latest reading that was shown.
 */
void common_finish(struct session_common *common, struct component *component, uint64_t end_ns)
{
    if (common->live) {
        pthread_mutex_lock(&common->showing);
        live_show(common, component, end_ns);
        pthread_mutex_unlock(&common->showing);
    }
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

static __thread const struct session_common *common_told; /* whose functions are being called */

bool common_is_telling(const struct session_common *common)
{
    return common_told == common;
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

    common_told = common;
    if (common->live) {
        pthread_mutex_lock(&common->showing);
        live_show(common, component, 0);
        if (common->on_live) {
            common->on_live(common->live, common->live_context);
        }
        pthread_mutex_unlock(&common->showing);
    }
    overflow_evaluate(&common->overflows, component, common_index(common, component));
    for (size_t i = 0; common->on_sample && i < component->event_count; i++) {
        component->readings[i] = component->raw[component->slots[i]];
        component->values[i] = component->meters[i].value;
        component->spans_ns[i] = component->meters[i].value_ns;
    }
    if (common->on_sample) {
        pthread_mutex_lock(&common->reporting);
        common->on_sample(&sample, common->context);
        pthread_mutex_unlock(&common->reporting);
    }
    common_told = NULL;
}
