/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/domain.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Timelines. */

#define BIN_MIN_NS 10000000
#define PCT 100.0
#define UNTOUCHED ((float)(2 * PCT)) /* marks a bin that has no value yet */

void apapi_timeline_meter_init(struct apapi_timeline_meter *meter, uint64_t origin_ns,
                               uint64_t interval_ns)
{
    memset(meter, 0, sizeof *meter);
    meter->origin_ns = origin_ns;
    meter->bin_ns = BIN_MIN_NS;
    while (meter->bin_ns < interval_ns) {
        meter->bin_ns *= 2;
    }
}

static void fold(struct apapi_timeline_meter *meter)
{
    for (size_t i = 0; i < APAPI_TIMELINE_BINS; i++) {
        bool used = i < APAPI_TIMELINE_BINS / 2;

        meter->energy_j[i] = used ? meter->energy_j[2 * i] + meter->energy_j[2 * i + 1] : 0;
        meter->covered_ns[i] = used ? meter->covered_ns[2 * i] + meter->covered_ns[2 * i + 1] : 0;
    }
    meter->bin_ns *= 2;
}

void apapi_timeline_meter_add(struct apapi_timeline_meter *meter, uint64_t from_ns, uint64_t to_ns,
                              double energy_j, bool covers)
{
    uint64_t first_ns = greater_count(from_ns, meter->origin_ns) - meter->origin_ns;
    uint64_t last_ns = greater_count(to_ns, meter->origin_ns) - meter->origin_ns;
    double power_w;

    if (last_ns <= first_ns) {
        return;
    }
    power_w = energy_j / duration(to_ns - from_ns);
    while (last_ns > APAPI_TIMELINE_BINS * meter->bin_ns) {
        fold(meter);
    }
    for (uint64_t bin = first_ns / meter->bin_ns; first_ns < last_ns; bin++) {
        uint64_t part_ns = lesser_count(last_ns, (bin + 1) * meter->bin_ns) - first_ns;

        meter->energy_j[bin] += power_w * duration(part_ns);
        meter->covered_ns[bin] += covers ? part_ns : 0;
        first_ns += part_ns;
    }
}

/* @return an empty timeline. Its bins are wider than `bin_ns` if they would be too many. */
static struct apapi_timeline make_empty(uint64_t length_ns, uint64_t bin_ns)
{
    struct apapi_timeline empty = {.bin_ns = bin_ns, .length_ns = length_ns};

    while ((length_ns + APAPI_TIMELINE_BINS - 1) / APAPI_TIMELINE_BINS > empty.bin_ns) {
        empty.bin_ns *= 2;
    }
    empty.count = (size_t)((length_ns + empty.bin_ns - 1) / empty.bin_ns);
    return empty;
}

void apapi_timeline_meter_finish(const struct apapi_timeline_meter *meter, uint64_t length_ns,
                                 struct apapi_timeline *result)
{
    struct apapi_timeline_meter folded = *meter;

    if (length_ns == 0) {
        *result = (struct apapi_timeline){0};
        return;
    }
    *result = make_empty(length_ns, folded.bin_ns);
    while (folded.bin_ns < result->bin_ns) {
        fold(&folded);
    }
    for (size_t i = 0; i < result->count; i++) {
        double share = (double)folded.covered_ns[i] / (double)apapi_timeline_bin_length(result, i);

        result->energy_j[i] = (float)folded.energy_j[i];
        result->covered_pct[i] = (float)(PCT * fmin(share, 1));
    }
}

uint64_t apapi_timeline_bin_length(const struct apapi_timeline *timeline, size_t bin)
{
    uint64_t start_ns = bin * timeline->bin_ns;

    return bin < timeline->count ? lesser_count(timeline->bin_ns, timeline->length_ns - start_ns)
                                 : 0;
}

double apapi_timeline_power_w(const struct apapi_timeline *timeline, size_t bin)
{
    double length_ns = (double)apapi_timeline_bin_length(timeline, bin);
    double known_ns = length_ns > 0 ? length_ns * timeline->covered_pct[bin] / PCT : 0;

    return known_ns > 0 ? timeline->energy_j[bin] * 1e9 / known_ns : NAN;
}

double apapi_timeline_energy_j(const struct apapi_timeline *timeline)
{
    double sum_j = 0;

    for (size_t i = 0; i < timeline->count; i++) {
        sum_j += timeline->energy_j[i];
    }
    return timeline->count ? sum_j : NAN;
}

double apapi_timeline_between_j(const struct apapi_timeline *timeline, uint64_t from_ns,
                                uint64_t to_ns, uint64_t *known_ns)
{
    const struct timeline_bins bins = {timeline->bin_ns, timeline->length_ns, timeline->count,
                                       timeline->energy_j, timeline->covered_pct};
    uint64_t unused;

    return timeline_bins_between_j(&bins, from_ns, to_ns, known_ns ? known_ns : &unused);
}

/* Add a timeline that begins `late_ns` after the sum does. */
static void lay_over(struct apapi_timeline *sum, const struct apapi_timeline *one, uint64_t late_ns)
{
    for (size_t i = 0; i < sum->count; i++) {
        uint64_t start_ns = i * sum->bin_ns;
        uint64_t end_ns = start_ns + apapi_timeline_bin_length(sum, i);
        uint64_t first_ns = greater_count(start_ns, late_ns);
        uint64_t last_ns = lesser_count(end_ns, late_ns + one->length_ns), known_ns;

        if (first_ns < last_ns) {
            sum->energy_j[i] += (float)apapi_timeline_between_j(one, first_ns - late_ns,
                                                                end_ns - late_ns, &known_ns);
            sum->covered_pct[i] = fminf(sum->covered_pct[i], (float)(PCT * (double)known_ns /
                                                                     (double)(last_ns - first_ns)));
        }
    }
}

void apapi_timeline_coarsen(struct apapi_timeline *timeline, uint64_t bin_ns)
{
    const struct apapi_timeline fine = *timeline;

    while (fine.count > 0 && timeline->bin_ns < bin_ns && timeline->bin_ns <= UINT64_MAX / 4) {
        timeline->bin_ns *= 2;
    }
    if (timeline->bin_ns > fine.bin_ns) {
        *timeline = make_empty(fine.length_ns, timeline->bin_ns);
        for (size_t i = 0; i < timeline->count; i++) {
            timeline->covered_pct[i] = (float)PCT;
        }
        lay_over(timeline, &fine, 0);
    }
}

void apapi_timeline_sum_add(struct apapi_timeline_sum *sum, int64_t start_unix_ns,
                            const struct apapi_timeline *timeline)
{
    struct apapi_timeline_sum old = *sum;
    uint64_t old_late_ns, late_ns;

    if (timeline->count == 0) {
        return;
    }
    if (old.timeline.count == 0) {
        *sum = (struct apapi_timeline_sum){start_unix_ns, *timeline};
        return;
    }
    sum->start_unix_ns = old.start_unix_ns < start_unix_ns ? old.start_unix_ns : start_unix_ns;
    old_late_ns = (uint64_t)(old.start_unix_ns - sum->start_unix_ns);
    late_ns = (uint64_t)(start_unix_ns - sum->start_unix_ns);
    sum->timeline = make_empty(
        greater_count(old_late_ns + old.timeline.length_ns, late_ns + timeline->length_ns),
        greater_count(old.timeline.bin_ns, timeline->bin_ns));
    for (size_t i = 0; i < sum->timeline.count; i++) {
        sum->timeline.covered_pct[i] = UNTOUCHED;
    }
    lay_over(&sum->timeline, &old.timeline, old_late_ns);
    lay_over(&sum->timeline, timeline, late_ns);
    for (size_t i = 0; i < sum->timeline.count; i++) {
        if (sum->timeline.covered_pct[i] == UNTOUCHED) {
            sum->timeline.covered_pct[i] = 0;
        }
    }
}

/* Domains. */

void apapi_domain_meter_init(struct apapi_domain_meter *domain, uint64_t origin_ns,
                             uint64_t interval_ns, struct apapi_histogram *histogram)
{
    *domain = (struct apapi_domain_meter){.used = true};
    apapi_rate_init(&domain->rate, interval_ns / 2, histogram);
    apapi_timeline_meter_init(&domain->timeline, origin_ns, interval_ns);
}

void apapi_domain_meter_add(struct apapi_domain_meter *domain, enum apapi_meter_step step,
                            double energy_j)
{
    domain->waiting |= step == APAPI_METER_WAITING;
    domain->broken |= step == APAPI_METER_BROKEN;
    domain->pending_j += energy_j;
}

/*
 * If the counter stopped in the window before, that window has too little power: of what the
 * counter shows after the standstill, a part belongs to it.
 */
static void domain_add_window(struct apapi_domain_meter *domain, uint64_t now_ns)
{
    const struct apapi_rate_window before = domain->rate.closed, *joined = &domain->rate.closed;
    uint64_t since_ns = now_ns - domain->open_ns, windows = domain->rate.windows;
    double late_j;

    apapi_timeline_meter_add(&domain->timeline, domain->open_ns, now_ns, domain->pending_j, true);
    apapi_rate_add(&domain->rate, domain->pending_j, since_ns);
    if (domain->rate.windows == windows || joined->length_ns != before.length_ns + since_ns) {
        return;
    }
    late_j = joined->quantity * duration(before.length_ns) / duration(joined->length_ns) -
             before.quantity;
    if (late_j > 0) {
        apapi_timeline_meter_add(&domain->timeline, domain->open_ns - before.length_ns,
                                 domain->open_ns, late_j, false);
        apapi_timeline_meter_add(&domain->timeline, domain->open_ns, now_ns, -late_j, false);
    }
}

void apapi_domain_meter_tick(struct apapi_domain_meter *domain, uint64_t now_ns)
{
    bool waiting = domain->waiting;

    domain->waiting = false;
    if (domain->open && waiting) {
        return;
    }
    if (domain->open && domain->broken) {
        apapi_rate_drop(&domain->rate);
    } else if (domain->open) {
        domain_add_window(domain, now_ns);
    }
    domain->open = true;
    domain->open_ns = now_ns;
    domain->pending_j = 0;
    domain->broken = false;
}

/* A domain is known only if each of its meters is: a part must not look like the whole. */
void apapi_domain_result_add(struct apapi_domain_result *result,
                             const struct apapi_event_result *event)
{
    if (!result->measured) {
        *result = (struct apapi_domain_result){.measured = true};
    }
    result->energy_j += event->total;
    result->uncertainty_j += event->uncertainty_j;
    result->update_ns = greater_count(result->update_ns, event->event.update_ns);
    result->power_w.mean += event->summary.mean;
}

void apapi_domain_meter_finish(struct apapi_domain_meter *domain, uint64_t elapsed_ns,
                               struct apapi_domain_result *result)
{
    double mean_w;

    apapi_rate_finish(&domain->rate);
    mean_w = apapi_rate_mean(&domain->rate);
    result->measured = result->measured && isfinite(result->energy_j);
    if (!result->measured) {
        *result = APAPI_DOMAIN_UNMEASURED;
        return;
    }
    if (!isnan(mean_w)) {
        result->power_w.mean = mean_w; /* for the same windows as the extremes */
    }
    result->power_w.min = domain->rate.min;
    result->power_w.max = domain->rate.max;
    result->power_w.p95 = apapi_histogram_within(domain->rate.histogram, &result->power_w);
    apapi_rate_hide(&domain->rate, &result->power_w);
    apapi_timeline_meter_finish(&domain->timeline, elapsed_ns, &result->timeline);
}
