/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H
#include <stdint.h>

/*
 * Weighted values from 2^-10 to 2^27, for percentiles: every power of two in 64 equal parts, so a
 * percentile is right within 0.8 %. Values below count as the least, above as the greatest.
 */
#define APAPI_HISTOGRAM_PARTS 64
#define APAPI_HISTOGRAM_LEAST (-10)
#define APAPI_HISTOGRAM_GREATEST 27

enum {
    APAPI_HISTOGRAM_BINS =
        (APAPI_HISTOGRAM_GREATEST - APAPI_HISTOGRAM_LEAST) * APAPI_HISTOGRAM_PARTS
};

struct apapi_histogram {
    uint64_t weights[APAPI_HISTOGRAM_BINS];
    uint64_t total;
};

void apapi_histogram_clear(struct apapi_histogram *histogram);

/** Add a value that is not NaN, with its weight. Does not allocate. */
void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight);

/** @return the value that this share (0..1) of the weight does not exceed; NaN if it is empty. */
double apapi_histogram_quantile(const struct apapi_histogram *histogram, double share);

#endif
