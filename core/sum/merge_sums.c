/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains of a step: energies, and the total power of all nodes. */
#include <math.h>
#include <stdlib.h>

#include "base/duration.h"
#include "record/end.h"
#include "sum/merge_parts.h"

#define WHOLLY_PCT 99.0 /* how much of a bin must be known for it to count */
#define TOGETHER 0.9    /* share of the time in which nodes must have run on the average */
#define APART_MAX_NS INT64_C(600000000000)
#define NOTHING ((struct merge_domain){0, NAN, {NAN, NAN, NAN, NAN}, NAN, 0})

static bool merge_sums_is_known(const struct apapi_domain_result *domain)
{
    return domain->measured && !(isnan(domain->energy_j) && isnan(domain->power_w.mean));
}

/* Nodes begin together; a wrong clock would distort the sum. Half of the range is room to add. */
static bool is_in_time(const struct merge_sum *sum, int64_t start_ns,
                       const struct apapi_timeline *timeline)
{
    if (start_ns < 0 || start_ns > INT64_MAX / 2 || timeline->length_ns > INT64_MAX / 2) {
        return false;
    }
    return sum->timelines == 0 ||
           llabs((long long)(start_ns - sum->timeline.start_unix_ns)) < APART_MAX_NS;
}

static int64_t merge_sums_end_ns(int64_t start_ns, const struct apapi_timeline *timeline)
{
    return start_ns + (int64_t)timeline->length_ns;
}

static void merge_sums_add_timeline(struct merge_sum *sum, int64_t start_ns,
                                    const struct apapi_timeline *timeline)
{
    if (timeline->count == 0 || !is_in_time(sum, start_ns, timeline)) {
        return;
    }
    if (sum->timelines == 0 || start_ns > sum->last_start_ns) {
        sum->last_start_ns = start_ns;
    }
    if (sum->timelines == 0 || merge_sums_end_ns(start_ns, timeline) < sum->first_end_ns) {
        sum->first_end_ns = merge_sums_end_ns(start_ns, timeline);
    }
    apapi_timeline_sum_add(&sum->timeline, start_ns, timeline);
    sum->timelines++;
}

static void merge_sums_add_domain(struct merge_domain *sum, const struct apapi_domain_result *one)
{
    sum->nodes++;
    sum->energy_j += one->energy_j;
    sum->uncertainty_j += one->uncertainty_j;
    sum->power_w.min += one->power_w.min;
    sum->power_w.max += one->power_w.max;
    sum->power_w.mean += one->power_w.mean;
    sum->power_w.p95 = sum->nodes == 1 ? one->power_w.p95 : NAN;
}

/* The mean power is that of the time that is known; the rest of the time is taken to be like it. */
static double whole_j(const struct apapi_domain_result *domain, uint64_t elapsed_ns)
{
    return isnan(domain->power_w.mean) ? domain->energy_j
                                       : domain->power_w.mean * (double)elapsed_ns / NS_PER_S;
}

/* A node whose clock is far from that of the first one is taken to have begun with it. */
static int add_time(struct busy *busy, const struct apapi_measurement *m)
{
    int64_t first_ns = busy->count > 0 ? busy->spans[0].start_ns : m->start_unix_ns;
    int64_t distance_ns;
    struct apapi_measurement moved = {.start_unix_ns = m->start_unix_ns,
                                      .elapsed_ns = m->elapsed_ns};

    if (__builtin_sub_overflow(m->start_unix_ns, first_ns, &distance_ns) ||
        llabs((long long)distance_ns) >= APART_MAX_NS) {
        moved.start_unix_ns = first_ns;
    }
    return busy_add(busy, moved.start_unix_ns, record_end_ns(&moved));
}

int merge_sums_add(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    bool known[2] = {false, false};

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        struct merge_sum *sum = &merge->sums[domain];

        if (merge_sums_is_known(&m->domains[domain])) {
            merge_sums_add_domain(&sum->own, &m->domains[domain]);
            merge_sums_add_timeline(sum, m->start_unix_ns, &m->domains[domain].timeline);
            sum->whole_j += whole_j(&m->domains[domain], m->elapsed_ns);
            sum->node_ns += (double)m->elapsed_ns;
            known[apapi_domain_adds_up(domain)] = true;
        }
    }
    for (int adds_up = 0; adds_up < 2; adds_up++) {
        if (known[adds_up] && add_time(&merge->busy[adds_up], m) < 0) {
            return -1;
        }
    }
    return 0;
}

double merge_busy_s(const struct apapi_merge *merge)
{
    const struct busy *busy = &merge->busy[merge->busy[true].count > 0];

    return busy->count > 0 ? busy_length_ns(busy) / NS_PER_S : NAN;
}

/*
 * If a node begins or ends within a bin, the sum misses it: search the minimum only while all nodes
 * run. A maximum can only be too low there.
 */
static bool find_extremes(const struct merge_sum *sum, struct apapi_summary *power_w)
{
    const struct apapi_timeline *timeline = &sum->timeline.timeline;
    double min_w = NAN, max_w = NAN;

    for (size_t i = 0; i < timeline->count; i++) {
        int64_t from_ns = sum->timeline.start_unix_ns + (int64_t)(i * timeline->bin_ns);
        int64_t to_ns = from_ns + (int64_t)apapi_timeline_bin_length(timeline, i);

        if (timeline->covered_pct[i] < WHOLLY_PCT) {
            continue;
        }
        max_w = fmax(max_w, apapi_timeline_power_w(timeline, i));
        if (from_ns >= sum->last_start_ns && to_ns <= sum->first_end_ns) {
            min_w = fmin(min_w, apapi_timeline_power_w(timeline, i));
        }
    }
    if (isnan(min_w)) {
        return false;
    }
    power_w->min = min_w;
    power_w->max = max_w;
    return true;
}

/* Did the nodes run for most of the time? */
static bool ran_together(const struct merge_sum *sum, double busy_ns)
{
    return sum->node_ns >= TOGETHER * busy_ns * (double)sum->own.nodes;
}

/*
 * The mean is of all of the time, the extremes are of whole bins. A mean beyond them shows that the
 * rest of the time had more, or less, power. Where nodes began or ended long before others, a
 * minimum of the time in which all were there says nothing of the rest.
 */
static void reconcile(struct apapi_summary *power_w, bool together)
{
    power_w->max = power_w->max < power_w->mean ? power_w->mean : power_w->max;
    if (power_w->mean < power_w->min) {
        power_w->min = together ? power_w->mean : NAN;
    }
}

static bool all_have_timelines(const struct merge_sum *sum)
{
    return sum->own.nodes > 1 && sum->timelines == sum->own.nodes;
}

/* Energy by time. Of a single node its own: it is not known more exactly than its record says. */
static void set_mean(const struct merge_sum *sum, const struct busy *busy,
                     struct merge_domain *result)
{
    double busy_ns = busy_length_ns(busy);

    if (busy->count > 1 && busy_ns > 0) {
        result->power_w.mean = sum->whole_j * NS_PER_S / busy_ns;
        reconcile(&result->power_w, ran_together(sum, busy_ns));
    }
}

void merge_domain(const struct apapi_merge *merge, enum apapi_domain domain,
                  struct merge_domain *result)
{
    const struct merge_sum *sum = &merge->sums[domain];

    *result = sum->own.nodes ? sum->own : NOTHING;
    if (sum->own.nodes == 0) {
        return;
    }
    if (all_have_timelines(sum) && find_extremes(sum, &result->power_w)) {
        result->bin_ns = sum->timeline.timeline.bin_ns;
    }
    set_mean(sum, &merge->busy[apapi_domain_adds_up(domain)], result);
}

static double merge_sums_add_known(double sum, double value)
{
    if (isnan(value)) {
        return sum;
    }
    return isnan(sum) ? value : sum + value;
}

static void add_to_total(struct merge_domain *total, const struct merge_domain *one)
{
    if (!isnan(one->energy_j)) {
        total->uncertainty_j =
            isnan(total->energy_j) ? one->uncertainty_j : total->uncertainty_j + one->uncertainty_j;
    }
    if (total->nodes == 0 || one->nodes < total->nodes) {
        total->nodes = one->nodes;
    }
    total->energy_j = merge_sums_add_known(total->energy_j, one->energy_j);
    total->power_w.mean = merge_sums_add_known(total->power_w.mean, one->power_w.mean);
}

void merge_total(const struct apapi_merge *merge, struct merge_total *total)
{
    size_t most = 0;

    *total = (struct merge_total){.sum = NOTHING};
    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        struct merge_domain one;

        merge_domain(merge, domain, &one);
        if (apapi_domain_adds_up(domain) && one.nodes > 0) {
            add_to_total(&total->sum, &one);
            most = one.nodes > most ? one.nodes : most;
            total->partial |= isnan(one.energy_j);
        }
    }
    total->partial |= total->sum.nodes < most;
    total->sum.bin_ns = merge_total_extremes(merge, &total->sum.power_w);
}

/* Domains of the same nodes begin and end together. */
static void merge_sums_join(struct merge_sum *total, const struct merge_sum *one)
{
    if (total->timelines == 0 || one->last_start_ns > total->last_start_ns) {
        total->last_start_ns = one->last_start_ns;
    }
    if (total->timelines == 0 || one->first_end_ns < total->first_end_ns) {
        total->first_end_ns = one->first_end_ns;
    }
    apapi_timeline_sum_add(&total->timeline, one->timeline.start_unix_ns, &one->timeline.timeline);
    total->timelines++;
    total->own.nodes = one->own.nodes;
    total->node_ns = one->node_ns;
}

uint64_t merge_total_extremes(const struct apapi_merge *merge, struct apapi_summary *power_w)
{
    struct merge_sum total = {0};
    size_t nodes = 0;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        const struct merge_sum *sum = &merge->sums[domain];

        if (!apapi_domain_adds_up(domain) || sum->own.nodes == 0) {
            continue;
        }
        if (!all_have_timelines(sum) || (nodes > 0 && sum->own.nodes != nodes)) {
            return 0;
        }
        nodes = sum->own.nodes;
        merge_sums_join(&total, sum);
    }
    if (!find_extremes(&total, power_w)) {
        return 0;
    }
    reconcile(power_w, ran_together(&total, busy_length_ns(&merge->busy[true])));
    return total.timeline.timeline.bin_ns;
}
