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

#endif
