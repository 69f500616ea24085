/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_DOMAIN_H
#define MEASURE_DOMAIN_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/timeline.h"
#include "measure/meter.h"

/*
 * Collects energy in bins while sampling. When all bins are used, pairs of bins are joined: the
 * size is fixed for a run of any length. No allocation.
 */
struct apapi_timeline_meter {
    uint64_t origin_ns; /* start of the first bin (CLOCK_MONOTONIC) */
    uint64_t bin_ns;
    double energy_j[APAPI_TIMELINE_BINS];
    uint64_t covered_ns[APAPI_TIMELINE_BINS];
};

/** @param interval_ns  time between two readings: the least width of a bin [ns] */
void apapi_timeline_meter_init(struct apapi_timeline_meter *meter, uint64_t origin_ns,
                               uint64_t interval_ns);

/**
 * Add the energy between two readings. Times before the origin are ignored.
 * @param covers  whether the time is covered by this energy; false: it was covered before
 */
void apapi_timeline_meter_add(struct apapi_timeline_meter *meter, uint64_t from_ns, uint64_t to_ns,
                              double energy_j, bool covers);

/** Fill in the result at the end of a run of `length_ns`. */
void apapi_timeline_meter_finish(const struct apapi_timeline_meter *meter, uint64_t length_ns,
                                 struct apapi_timeline *result);

/** The bins of a timeline; the arrays are borrowed. */
struct timeline_bins {
    uint64_t bin_ns, length_ns;
    size_t count;
    const float *energy_j, *covered_pct; /* covered_pct NULL: all bins are covered */
};

/** Like apapi_timeline_between_j(), for borrowed bins. */
static inline double timeline_bins_between_j(const struct timeline_bins *bins, uint64_t from_ns,
                                             uint64_t to_ns, uint64_t *known_ns)
{
    double sum_j = 0, sum_ns = 0;

    for (size_t i = bins->count ? (size_t)(from_ns / bins->bin_ns) : 0;
         i < bins->count && i * bins->bin_ns < to_ns; i++) {
        uint64_t begin_ns = i * bins->bin_ns, left_ns = bins->length_ns - begin_ns;
        uint64_t length_ns = bins->bin_ns < left_ns ? bins->bin_ns : left_ns;
        uint64_t first_ns = from_ns > begin_ns ? from_ns : begin_ns;
        uint64_t last_ns = to_ns < begin_ns + length_ns ? to_ns : begin_ns + length_ns;
        double covered_pct = bins->covered_pct ? (double)bins->covered_pct[i] : 100;

        if (first_ns < last_ns) {
            double share = (double)(last_ns - first_ns) / (double)length_ns;

            sum_j += share * (double)bins->energy_j[i];
            sum_ns += share * ((double)length_ns * covered_pct / 100);
        }
    }
    *known_ns = (uint64_t)(sum_ns + 0.5);
    return sum_j;
}

/** A sum of timelines that began at different times. */
struct apapi_timeline_sum {
    int64_t start_unix_ns; /* start of the earliest timeline, since 1970 [ns] */
    struct apapi_timeline timeline;
};

/**
 * Add the timeline of another node, which began at `start_unix_ns`. The sum has the widest bins of
 * all, and lasts from the first beginning to the last end. A bin of the sum is covered like the
 * least covered timeline at that time.
 * @param sum  zeroed before the first timeline
 * Does not allocate.
 */
void apapi_timeline_sum_add(struct apapi_timeline_sum *sum, int64_t start_unix_ns,
                            const struct apapi_timeline *timeline);

/*
 * Power of all meters of one domain together: extremes and timeline. All meters are read at each
 * tick. A time window counts if every meter is known at both ends of the window.
 */
struct apapi_domain_meter {
    bool used;
    bool waiting; /* some meter is not known yet in this tick */
    bool broken;  /* some meter has lost energy since the last known tick */
    double pending_j;
    bool open; /* `open_ns` is set */
    uint64_t open_ns;
    struct apapi_rate rate;
    struct apapi_timeline_meter timeline;
};

/**
 * @param origin_ns  start of the measurement (CLOCK_MONOTONIC), even if this domain is read later
 * @param histogram  borrowed; NULL: no percentiles
 */
void apapi_domain_meter_init(struct apapi_domain_meter *domain, uint64_t origin_ns,
                             uint64_t interval_ns, struct apapi_histogram *histogram);

/** Note the window and the lapse of the rate of one of the domain's meters. */
static inline void apapi_domain_meter_note(struct apapi_domain_meter *domain,
                                           const struct apapi_rate *rate)
{
    if (domain->rate.window_ns < rate->window_ns) {
        domain->rate.window_ns = rate->window_ns;
    }
    if (domain->rate.open_lapse < rate->open_lapse) {
        domain->rate.open_lapse = rate->open_lapse;
    }
}

/** Add one meter's energy in this tick. */
void apapi_domain_meter_add(struct apapi_domain_meter *domain, enum apapi_meter_step step,
                            double energy_j);

/** End a tick, after all its meters were added. */
void apapi_domain_meter_tick(struct apapi_domain_meter *domain, uint64_t now_ns);

/** Add one meter's result to that of its domain. Zero `result` before the first meter. */
void apapi_domain_result_add(struct apapi_domain_result *result,
                             const struct apapi_event_result *event);

/** Fill in extremes and the timeline of `elapsed_ns`, after all results were added. */
void apapi_domain_meter_finish(struct apapi_domain_meter *domain, uint64_t elapsed_ns,
                               struct apapi_domain_result *result);

static inline void unmeasure_domains(struct apapi_domain_result domains[APAPI_DOMAINS])
{
    for (int i = 0; i < APAPI_DOMAINS; i++) {
        domains[i] = APAPI_DOMAIN_UNMEASURED;
    }
}

#endif
