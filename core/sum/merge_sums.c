/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains of a step: energies, and the total power of all nodes. */
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "record/record.h"
#include "sum/merge.h"
#include "sum/timing.h"

#define WHOLLY_PCT 99.0 /* how much of a bin must be known for it to count */
#define ROUNDING 0.002  /* of timelines, relative: they and the mean have the same energy */
#define NOTHING                                                                                    \
    ((struct merge_domain){.energy_j = NAN,                                                        \
                           .power_w = {NAN, NAN, NAN, NAN},                                        \
                           .uncertainty_j = NAN,                                                   \
                           .covered = NAN,                                                         \
                           .rest_j = NAN})

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
           llabs((long long)(start_ns - sum->timeline.start_unix_ns)) < TIMING_APART_NS;
}

static void merge_sums_add_timeline(struct merge_sum *sum, int64_t start_ns,
                                    const struct apapi_timeline *timeline)
{
    if (timeline->count == 0 || !is_in_time(sum, start_ns, timeline)) {
        return;
    }
    apapi_timeline_sum_add(&sum->timeline, start_ns, timeline);
    sum->timelines++;
}

static void merge_sums_add_domain(struct merge_domain *sum, const struct apapi_domain_result *one)
{
    sum->nodes++;
    sum->energy_j += one->energy_j;
    sum->uncertainty_j += one->uncertainty_j;
    sum->rest_j += coverage_rest_of(one);
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

static void merge_sums_add_coverage(struct merge_sum *sum, const struct apapi_measurement *m,
                                    const struct apapi_domain_result *domain)
{
    double due_ns = (double)(m->late_ns + m->elapsed_ns);

    sum->due_ns += due_ns;
    sum->covered_ns += domain->covered > 0 ? domain->covered * due_ns : NAN;
}

/* A node whose clock is far from that of the first one is taken to have begun with it. */
static int add_time(struct busy *busy, const struct apapi_measurement *m)
{
    int64_t first_ns = busy->count > 0 ? busy->spans[0].start_ns : m->start_unix_ns;
    int64_t distance_ns;
    struct apapi_measurement moved = {.start_unix_ns = m->start_unix_ns,
                                      .elapsed_ns = m->elapsed_ns};

    if (__builtin_sub_overflow(m->start_unix_ns, first_ns, &distance_ns) ||
        llabs((long long)distance_ns) >= TIMING_APART_NS) {
        moved.start_unix_ns = first_ns;
    }
    return busy_add(busy, moved.start_unix_ns, record_end_ns(&moved));
}

int merge_sums_add(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    bool known[2] = {false, false};

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        struct merge_sum *sum = &merge->sums[domain];

        sum->own.unknown += (m->unknown_domains & domain_bit(domain)) != 0;
        if (merge_sums_is_known(&m->domains[domain])) {
            merge_sums_add_domain(&sum->own, &m->domains[domain]);
            merge_sums_add_timeline(sum, m->start_unix_ns, &m->domains[domain].timeline);
            sum->whole_j += whole_j(&m->domains[domain], m->elapsed_ns);
            merge_sums_add_coverage(sum, m, &m->domains[domain]);
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

/* Bins [first, end) of a timeline. */
struct window {
    size_t first, end;
};

/*
 * Windows divide the time, as nodes run and as they do not: so the mean lies between the extremes.
 * The remainder at the end belongs to the window before it.
 * @return whether there is a next window
 */
static bool window_next(const struct apapi_timeline *timeline, struct window *window)
{
    window->first = window->end;
    window->end = window->first + 1;
    if (window->end + 1 == timeline->count &&
        apapi_timeline_bin_length(timeline, window->end) < timeline->bin_ns) {
        window->end++;
    }
    return window->first < timeline->count;
}

/* @return NaN: a part of it is not known. */
static double window_power_w(const struct apapi_timeline *timeline, const struct window *window)
{
    double energy_j = 0, length_ns = 0;

    for (size_t bin = window->first; bin < window->end; bin++) {
        double bin_ns = (double)apapi_timeline_bin_length(timeline, bin);

        if (timeline->covered_pct[bin] < WHOLLY_PCT) {
            return NAN;
        }
        energy_j += apapi_timeline_power_w(timeline, bin) * bin_ns / NS_PER_S;
        length_ns += bin_ns;
    }
    return energy_j * NS_PER_S / length_ns;
}

/* @return the width of the windows [ns]; 0: nothing is known. */
static uint64_t find_extremes(const struct apapi_timeline *timeline, struct apapi_summary *power_w)
{
    struct window window = {0, 0};
    double min_w = NAN, max_w = NAN;

    while (window_next(timeline, &window)) {
        double window_w = window_power_w(timeline, &window);

        min_w = fmin(min_w, window_w);
        max_w = fmax(max_w, window_w);
    }
    if (isnan(min_w)) {
        return 0;
    }
    power_w->min = min_w;
    power_w->max = max_w;
    return timeline->bin_ns < timeline->length_ns ? timeline->bin_ns : timeline->length_ns;
}

/*
 * The mean is of all of the time, the extremes are of windows that are known. A mean beyond an
 * extreme shows that what is not known was more, or less: then the extreme is not known either.
 */
static void drop_contradicted(struct apapi_summary *power_w)
{
    double mean_w = power_w->mean, rounding_w = ROUNDING * mean_w;

    if (mean_w < power_w->min) {
        power_w->min = power_w->min - mean_w <= rounding_w ? mean_w : NAN;
    }
    if (mean_w > power_w->max) {
        power_w->max = mean_w - power_w->max <= rounding_w ? mean_w : NAN;
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
    }
}

void merge_domain(const struct apapi_merge *merge, enum apapi_domain domain,
                  struct merge_domain *result)
{
    const struct merge_sum *sum = &merge->sums[domain];

    *result = sum->own.nodes ? sum->own : NOTHING;
    result->unknown = sum->own.unknown;
    if (sum->own.nodes == 0) {
        return;
    }
    result->covered = sum->due_ns > 0 ? sum->covered_ns / sum->due_ns : NAN;
    if (all_have_timelines(sum)) {
        result->bin_ns = find_extremes(&sum->timeline.timeline, &result->power_w);
    }
    set_mean(sum, &merge->busy[apapi_domain_adds_up(domain)], result);
    drop_contradicted(&result->power_w);
}

static void add_to_total(struct merge_domain *total, const struct merge_domain *one)
{
    if (!isnan(one->energy_j)) {
        bool first = isnan(total->energy_j);

        total->uncertainty_j =
            first ? one->uncertainty_j : total->uncertainty_j + one->uncertainty_j;
        total->rest_j = first ? one->rest_j : total->rest_j + one->rest_j;
        total->covered = first || !(one->covered >= total->covered) ? one->covered : total->covered;
    }
    if (total->nodes == 0 || one->nodes < total->nodes) {
        total->nodes = one->nodes;
    }
    total->energy_j = known_plus(total->energy_j, one->energy_j);
    total->power_w.mean = known_plus(total->power_w.mean, one->power_w.mean);
}

/* The domains that add up, if not known on as many nodes as another one. */
static uint32_t missing_domains(const struct apapi_merge *merge, size_t most)
{
    uint32_t missing = 0;

    for (int domain = 0; domain < APAPI_DOMAINS; domain++) {
        const struct merge_domain *own = &merge->sums[domain].own;
        bool partly = own->nodes > 0 && (own->nodes < most || isnan(own->energy_j));

        missing |= own->unknown > 0 || partly ? domain_bit(domain) : 0;
    }
    return domain_list_adding_up(missing);
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
        }
    }
    total->missing = missing_domains(merge, most);
    total->sum.bin_ns = merge_total_extremes(merge, &total->sum.power_w);
}

uint64_t merge_total_extremes(const struct apapi_merge *merge, struct apapi_summary *power_w)
{
    struct apapi_timeline_sum total = {0};
    uint64_t window_ns;
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
        apapi_timeline_sum_add(&total, sum->timeline.start_unix_ns, &sum->timeline.timeline);
    }
    window_ns = find_extremes(&total.timeline, power_w);
    drop_contradicted(power_w);
    return window_ns;
}
