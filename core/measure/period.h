/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_PERIOD_H
#define MEASURE_PERIOD_H
#include <stdint.h>

#include "apapi/measurement.h"

/** Distances between readings, by Welford's method. All zero at the start. */
struct apapi_period_meter {
    uint64_t last_ns; /* 0: no reading yet */
    uint64_t count;
    double mean_ns;
    double squares; /* sum of squared differences from the mean */
    uint64_t longest_ns;
};

/** Note a reading. */
void apapi_period_add(struct apapi_period_meter *meter, uint64_t now_ns);

/** @return the result so far. */
struct apapi_period apapi_period_result(const struct apapi_period_meter *meter);

#endif
