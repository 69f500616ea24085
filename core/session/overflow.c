/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/overflow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

void overflow_forget_sums(struct overflows *overflows)
{
    feed_clear(overflows->feeds);
    memset(overflows->domains, 0, sizeof overflows->domains);
}

void overflow_init(struct overflows *overflows, struct session_clock *clock,
                   void (*hold)(void *owner, bool more), void *owner)
{
    atomic_init(&overflows->active, 0);
    pthread_mutex_init(&overflows->mutex, NULL);
    thread_condition(&overflows->changed);
    sem_init(&overflows->semaphore, 0, 0);
    overflows->clock = clock;
    overflows->hold = hold;
    overflows->owner = owner;
    overflows->telling = -1;
    overflow_forget_sums(overflows);
}

void overflow_clear(struct overflows *overflows)
{
    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        free(overflows->slots[i].cpu);
    }
    sem_destroy(&overflows->semaphore);
    pthread_cond_destroy(&overflows->changed);
    pthread_mutex_destroy(&overflows->mutex);
}

void overflow_restart(struct overflows *overflows)
{
    pthread_mutex_lock(&overflows->mutex);
    overflow_forget_sums(overflows);
    for (size_t i = 0; i < overflows->watch_count; i++) {
        struct overflow_watch *watch = &overflows->watches[i];

        limit_restart(&watch->limits);
        watch->begun = false;
        watch->windows = watch->end_ns = 0;
    }
    pthread_mutex_unlock(&overflows->mutex);
}

/* --- sums ------------------------------------------------------------------------------------- */

/*
 * Set `total` to the meter's count since its first reading [its unit; J for a gauge of power].
 * @return false: the meter has not been read
 */
static bool overflow_total(const struct apapi_meter *meter, long double *total)
{
    if (!meter->event->accumulates) {
        *total = meter->gauge.integral;
        return meter->gauge.valid || meter->gauge.covered_ns > 0;
    }
    *total = meter->counter.total * (long double)meter->counter.unit * meter->event->scale;
    return meter->counter.last.valid || meter->counter.covered_ns > 0;
}

/* The sum over a component's meters of a domain. */
struct overflow_part {
    long double total_j;
    bool unread; /* a meter has not been read */
    bool still;  /* a meter is not known to count: as in the result, the domain is not known */
};

static void overflow_add_meters(const struct component *component,
                                struct overflow_part parts[APAPI_DOMAINS])
{
    for (size_t i = 0; i < component->meter_count; i++) {
        const struct apapi_meter *meter = &component->meters[i];
        struct overflow_part *part = &parts[component->feeds[i]];
        long double total = 0;

        part->unread |= !overflow_total(meter, &total);
        part->still |= isnan(apapi_meter_total(meter));
        part->total_j += total;
    }
}

static void overflow_add_power(struct overflow_domain *domain, const struct apapi_rate *rate,
                               uint64_t now_ns)
{
    struct overflow_sum *sum = &domain->sum;
    uint64_t length_ns = rate->closed.length_ns;

    if (rate->windows == domain->rate_windows || length_ns == 0) {
        return;
    }
    domain->rate_windows = rate->windows;
    sum->gap = sum->windows > 0 && (now_ns - length_ns > sum->end_ns || rate->lapse);
    sum->windows++;
    sum->end_ns = now_ns;
    sum->length_ns = length_ns;
    sum->power_w = rate->last;
    domain->part_j += rate->last * (double)length_ns;
    domain->part_ns += length_ns;
    domain->part_gap |= sum->gap;
}

static void overflow_add_total(struct overflow_sum *sum, uint64_t from_ns, uint64_t now_ns,
                               long double total_j)
{
    sum->known = true;
    sum->before_ns = from_ns;
    sum->at_ns = now_ns > sum->at_ns ? now_ns : sum->at_ns;
    sum->total_j = total_j;
}

/* @return whether the domain has a new total. */
static bool overflow_see_domain(struct overflows *overflows, const struct component *component,
                                size_t index, int d, const struct overflow_part *part)
{
    const struct apapi_domain_meter *meter = &component->domains[d];
    struct overflow_domain *domain = &overflows->domains[d];
    struct feed *feed = &overflows->feeds[d];
    size_t before = feed->index;
    double energy_j = part->still ? NAN : (double)part->total_j;

    if (part->unread || !meter->open || meter->open_ns == domain->sum.at_ns) {
        return false;
    }
    if (!feed_offer(feed, index, component_late_ns(component, d, energy_j))) {
        /* nothing is counted until all meters of one component are known to count */
        if (domain->sum.known) {
            return false;
        }
        overflow_add_total(&domain->sum, 0, meter->open_ns, 0);
        return true;
    }
    if (before != index && before != SIZE_MAX) { /* the new figures go on where the old end */
        domain->offset_j = domain->sum.total_j - part->total_j;
        domain->rate_windows = meter->rate.windows;
    }
    overflow_add_total(&domain->sum, domain->sum.at_ns, meter->open_ns,
                       part->total_j + domain->offset_j);
    overflow_add_power(domain, &meter->rate, meter->open_ns);
    return true;
}

/* Add a power of the node when all its domains have had a new power since the one before. */
static void overflow_add_node_power(struct overflows *overflows)
{
    struct overflow_sum *node = &overflows->domains[APAPI_DOMAIN_NONE].sum;
    uint64_t end_ns = 0, longest_ns = 0;
    double power_w = 0;
    bool gap = false;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct overflow_domain *domain = &overflows->domains[d];

        if (!apapi_domain_adds_up((enum apapi_domain)d) || overflows->feeds[d].index == SIZE_MAX) {
            continue;
        }
        if (domain->part_ns == 0) {
            return;
        }
        power_w += domain->part_j / (double)domain->part_ns;
        gap |= domain->part_gap;
        end_ns = domain->sum.end_ns > end_ns ? domain->sum.end_ns : end_ns;
        longest_ns = domain->part_ns > longest_ns ? domain->part_ns : longest_ns;
    }
    if (longest_ns == 0) {
        return;
    }
    node->windows++;
    node->gap = gap;
    node->end_ns = end_ns;
    node->length_ns = longest_ns;
    node->power_w = power_w;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        overflows->domains[d].part_j = 0;
        overflows->domains[d].part_ns = 0;
        overflows->domains[d].part_gap = false;
    }
}

void overflow_see(struct overflows *overflows, const struct component *component, size_t index)
{
    struct overflow_part parts[APAPI_DOMAINS] = {{0}};
    uint64_t from_ns = UINT64_MAX, now_ns = 0;
    long double total_j = 0;

    overflow_add_meters(component, parts);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct overflow_sum *sum = &overflows->domains[d].sum;

        if (component->domains[d].used &&
            overflow_see_domain(overflows, component, index, d, &parts[d]) &&
            apapi_domain_adds_up((enum apapi_domain)d)) {
            from_ns = sum->before_ns < from_ns ? sum->before_ns : from_ns;
            now_ns = sum->at_ns;
        }
    }
    if (now_ns > 0) {
        for (int d = 0; d < APAPI_DOMAINS; d++) {
            if (apapi_domain_adds_up((enum apapi_domain)d) && overflows->domains[d].sum.known) {
                total_j += overflows->domains[d].sum.total_j;
            }
        }
        overflow_add_total(&overflows->domains[APAPI_DOMAIN_NONE].sum, from_ns, now_ns, total_j);
        overflow_add_node_power(overflows);
    }
}

/* --- thresholds ------------------------------------------------------------------------------- */

/* @return whether there is a new value. */
static bool overflow_of_sum(struct overflow_watch *watch, const struct overflow_sum *sum,
                            struct limit_value *value)
{
    const struct limit_watch *limits = &watch->limits;

    if (watch->target.counts) {
        *value = (struct limit_value){sum->total_j, sum->at_ns, sum->before_ns, false};
        return sum->known &&
               !(limits->known && sum->at_ns == limits->last_ns && sum->total_j == limits->last);
    }
    if (sum->windows == watch->windows) {
        return false;
    }
    watch->windows = sum->windows;
    *value = (struct limit_value){sum->power_w, sum->end_ns - sum->length_ns / 2, 0, sum->gap};
    return true;
}

/* Like overflow_of_sum(), for a meter: total, level, or rate, which is of its window's middle. */
static bool overflow_of_meter(struct overflow_watch *watch, const struct apapi_meter *meter,
                              uint64_t now_ns, struct limit_value *value)
{
    const struct apapi_rate *rate = &meter->rate;
    uint64_t length_ns = rate->closed.length_ns;

    *value = (struct limit_value){.time_ns = now_ns};
    if (watch->target.counts) {
        value->time_ns = meter->known_ns;
        return !(watch->limits.known && value->time_ns == watch->limits.last_ns) &&
               overflow_total(meter, &value->value);
    }
    if (!meter->event->accumulates) {
        value->value = meter->gauge.last;
        value->broken = !(meter->gauge.valid && meter->gauge.last_ns == now_ns);
        return !value->broken;
    }
    if (rate->windows == watch->windows || length_ns == 0) {
        return false;
    }
    value->broken = watch->windows > 0 && (now_ns - length_ns > watch->end_ns || rate->lapse);
    value->time_ns -= length_ns / 2;
    value->value = rate->last;
    watch->windows = rate->windows;
    watch->end_ns = now_ns;
    return true;
}

/* @return whether the reading has crossed thresholds. */
static bool overflow_look(const struct overflows *overflows, struct overflow_watch *watch,
                          const struct component *component)
{
    const struct overflow_target *target = &watch->target;
    struct limit_value value = {.broken = false};
    bool fresh = target->subject == OVERFLOW_EVENT
                     ? overflow_of_meter(watch, &component->meters[target->index],
                                         component->read_ns, &value)
                     : overflow_of_sum(watch, &overflows->domains[target->index].sum, &value);

    if (!fresh && value.broken) {
        limit_break(&watch->limits);
    }
    watch->begun |= fresh;
    return fresh && limit_look(&watch->limits, &value);
}

/* Note a crossing, to be told together with earlier crossings that wait. */
static void overflow_note(struct overflow_slot *slot, uint64_t crossed, uint64_t seen_ns)
{
    struct limit_crossing *crossing = &slot->limit.crossing;
    struct apapi_overflow_crossing *news = &slot->news;

    if (news->count == 0) {
        news->first_ns = crossing->first_ns;
        news->vector = 0;
    }
    news->count += crossing->count;
    news->value = crossing->value;
    news->seen_value = (double)slot->watch->limits.last;
    news->time_ns = crossing->time_ns;
    news->seen_ns = seen_ns;
    news->vector |= crossed;
    crossing->count = 0;
}

static void overflow_note_all(struct overflows *overflows, uint64_t seen_ns)
{
    struct overflow_slot *slots = overflows->slots;
    uint64_t crossed = 0;

    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        crossed |= (uint64_t)(slots[i].limit.crossing.count > 0) << i;
    }
    for (size_t i = 0; i < APAPI_OVERFLOW_MAX; i++) {
        if (slots[i].limit.crossing.count > 0) {
            overflow_note(&slots[i], crossed, seen_ns);
        }
    }
    sem_post(&overflows->semaphore);
}

void overflow_evaluate(struct overflows *overflows, const struct component *component, size_t index)
{
    bool crossed = false;

    if (atomic_load_explicit(&overflows->active, memory_order_relaxed) == 0 ||
        component->meter_count == 0) {
        return;
    }
    pthread_mutex_lock(&overflows->mutex);
    overflow_see(overflows, component, index);
    for (size_t i = 0; i < overflows->watch_count; i++) {
        struct overflow_watch *watch = &overflows->watches[i];

        if (watch->limits.first &&
            (watch->target.subject != OVERFLOW_EVENT || watch->target.component == index)) {
            crossed |= overflow_look(overflows, watch, component);
        }
    }
    if (crossed) {
        overflow_note_all(overflows, component->read_ns);
    }
    pthread_mutex_unlock(&overflows->mutex);
}
