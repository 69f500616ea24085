/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_TIMELINE_H
#define MEASURE_TIMELINE_H
#include "apapi/timeline.h"

/*
 * Collects energy into bins while sampling. When all bins are used, pairs are joined: the size is
 * fixed for a run of any length. No allocation.
 */
struct apapi_timeline_meter {
    uint64_t origin_ns; /* start of the first bin (CLOCK_MONOTONIC) */
    uint64_t bin_ns;
    double energy_j[APAPI_TIMELINE_BINS];
    uint64_t covered_ns[APAPI_TIMELINE_BINS];
};

/** @param interval_ns  between two readings: the minimum width of a bin */
void apapi_timeline_meter_init(struct apapi_timeline_meter *meter, uint64_t origin_ns,
                               uint64_t interval_ns);

/** Add the energy between two readings. Times before the origin are ignored. */
void apapi_timeline_meter_add(struct apapi_timeline_meter *meter, uint64_t from_ns, uint64_t to_ns,
                              double energy_j);

/** Call it at the end of a run of `length_ns`. Fills in the result. */
void apapi_timeline_meter_finish(const struct apapi_timeline_meter *meter, uint64_t length_ns,
                                 struct apapi_timeline *result);

/** A sum of timelines that began at different times. */
struct apapi_timeline_sum {
    int64_t start_unix_ns; /* of the earliest [ns since 1970] */
    struct apapi_timeline timeline;
};

/**
 * Add the timeline of another node, which began at `start_unix_ns`. The sum is as wide as the
 * widest and as long as all together. A bin of the sum is covered as the worst of those that have
 * it.
 * @param sum  zeroed before the first
 * Does not allocate.
 */
void apapi_timeline_sum_add(struct apapi_timeline_sum *sum, int64_t start_unix_ns,
                            const struct apapi_timeline *timeline);

#endif
