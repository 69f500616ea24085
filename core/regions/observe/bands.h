/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OBSERVE_BANDS_H
#define OBSERVE_BANDS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/region_result.h"
#include "measure/fit.h"

/*
 * When each column of a fit had its time: in bins of equal width from the start of the measurement.
 * When all are used, pairs are joined. No allocation.
 */
struct bands {
    uint64_t origin_ns; /* CLOCK_MONOTONIC */
    uint64_t bin_ns;
    size_t first, end;                            /* bins of the span */
    float part[APAPI_REGION_BINS];                /* of the span in each of these */
    float time_s[APAPI_REGION_BINS][FIT_COLUMNS]; /* of a moment in one row: few cache lines */
};

void bands_begin(struct bands *bands, uint64_t origin_ns);

/** What is added from now on was between two moments, of which the second is the latest so far. */
void bands_span(struct bands *bands, uint64_t from_ns, uint64_t to_ns);

/** Add a column's time in that span. */
void bands_add(struct bands *bands, size_t column, double time_s);

/** A column has become a part of another one, from the start on. */
void bands_move(struct bands *bands, size_t from, size_t to);

/** The energy of each bin, by the power of the columns [J]. */
void bands_sum(const struct bands *bands, const double power_w[FIT_COLUMNS],
               double sum_j[APAPI_REGION_BINS]);

/** A region's share of that. Fills in its `bins`, `bin_ns` and `share_pct`. */
void bands_share(const struct bands *bands, size_t column, double power_w,
                 const double sum_j[APAPI_REGION_BINS], struct apapi_region_result *region);

#endif
