/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_HISTOGRAM_H
#define MEASURE_HISTOGRAM_H
#include <stdint.h>

/*
 * The 95th percentile of weighted values, in 2 KB: a processor's first cache holds it.
 *
 * Each octave (power of two) from 2^-14 to 2^28 has its weight. The octaves whose weights lie
 * nearest to the percentile also have 64 equal bins, so it is right within 0.8 %. If values spread
 * over more octaves than there are bins for, the farthest go without. Values below 2^-14 count as
 * 0, values from 2^28 on as the greatest.
 */
enum {
    APAPI_HISTOGRAM_LEAST = -14, /* power of two of the first octave */
    APAPI_HISTOGRAM_OCTAVES = 42,
    APAPI_HISTOGRAM_DETAILED = 6, /* octaves that have bins at the same time */
    APAPI_HISTOGRAM_BINS = 64
};

struct apapi_histogram {
    uint64_t weights[APAPI_HISTOGRAM_OCTAVES + 1]; /* the first: of values that count as 0 */
    uint8_t slots[APAPI_HISTOGRAM_OCTAVES + 1];    /* 1 + index of the octave's bins; 0: none */
    uint8_t used;                                  /* of the bins */
    uint8_t unit_bits[APAPI_HISTOGRAM_DETAILED];   /* their weights are in units of 2^unit_bits */
    uint32_t units[APAPI_HISTOGRAM_DETAILED][APAPI_HISTOGRAM_BINS];
};

void apapi_histogram_clear(struct apapi_histogram *histogram);

/** Add a value that is not NaN, with its weight. Does not allocate. */
void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight);

/** @return the value that 95 % of the weight does not exceed; NaN if it is empty. */
double apapi_histogram_p95(const struct apapi_histogram *histogram);

#endif
