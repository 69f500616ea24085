/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_TIMELINE_H
#define MEASURE_TIMELINE_H
#include "apapi/timeline.h"

/*
 * Collects energy into bins while sampling. When the bins are full, two become one: of fixed
 * size, whatever the run's length. No allocation.
 */
struct apapi_timeline_meter {
    uint64_t origin_ns; /* when the first bin begins (CLOCK_MONOTONIC) */
    uint64_t bin_ns;
    double energy_j[APAPI_TIMELINE_BINS];
    uint64_t covered_ns[APAPI_TIMELINE_BINS];
};

/** @param interval_ns between two readings: a bin is at least so wide */
void apapi_timeline_meter_init(struct apapi_timeline_meter *meter, uint64_t origin_ns,
                               uint64_t interval_ns);

/** Add what came in between two readings. Times before the origin are left out. */
void apapi_timeline_meter_add(struct apapi_timeline_meter *meter, uint64_t from_ns, uint64_t to_ns,
                              double energy_j);

/** The run was `length_ns` long: tell the result. */
void apapi_timeline_meter_finish(const struct apapi_timeline_meter *meter, uint64_t length_ns,
                                 struct apapi_timeline *result);

#endif
