/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/bands.h"

#include <math.h>
#include <string.h>

#define BANDS_FIRST_NS UINT64_C(50000000) /* width of a bin at the start */

void bands_begin(struct bands *bands, uint64_t origin_ns)
{
    memset(bands, 0, sizeof(*bands));
    bands->origin_ns = origin_ns;
    bands->bin_ns = BANDS_FIRST_NS;
}

static void bands_join(struct bands *bands)
{
    const size_t half = APAPI_REGION_BINS / 2;

    for (size_t bin = 0; bin < half; bin++) {
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            bands->time_s[bin][column] =
                bands->time_s[2 * bin][column] + bands->time_s[2 * bin + 1][column];
        }
    }
    memset(bands->time_s[half], 0, half * sizeof(bands->time_s[0]));
    bands->bin_ns *= 2;
}

void bands_span(struct bands *bands, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t from = from_ns > bands->origin_ns ? from_ns - bands->origin_ns : 0;
    uint64_t to = to_ns > bands->origin_ns ? to_ns - bands->origin_ns : 0;

    bands->first = bands->end = 0;
    if (to <= from || bands->bin_ns == 0) {
        return;
    }
    while ((to - 1) / bands->bin_ns >= APAPI_REGION_BINS) {
        bands_join(bands);
    }
    bands->first = bands->end = from / bands->bin_ns;
    for (uint64_t at = from; at < to; bands->end++) {
        uint64_t end = (bands->end + 1) * bands->bin_ns;

        end = end < to ? end : to;
        bands->part[bands->end] = (float)(end - at) / (float)(to - from);
        at = end;
    }
}

void bands_add(struct bands *bands, size_t column, double time_s)
{
    for (size_t bin = bands->first; bin < bands->end; bin++) {
        bands->time_s[bin][column] += (float)time_s * bands->part[bin];
    }
}

void bands_move(struct bands *bands, size_t from, size_t to)
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        bands->time_s[bin][to] += bands->time_s[bin][from];
        bands->time_s[bin][from] = 0;
    }
}

void bands_sum(const struct bands *bands, const double power_w[FIT_COLUMNS],
               double sum_j[APAPI_REGION_BINS])
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        sum_j[bin] = 0;
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            sum_j[bin] += power_w[column] * (double)bands->time_s[bin][column];
        }
    }
}

void bands_share(const struct bands *bands, size_t column, double power_w,
                 const double sum_j[APAPI_REGION_BINS], struct apapi_region_result *region)
{
    region->bins = 0;
    region->bin_ns = bands->bin_ns;
    for (uint32_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        double own_j = power_w * (double)bands->time_s[bin][column];
        double pct = sum_j[bin] > 0 ? fmin(round(100 * own_j / sum_j[bin]), 100) : 0;

        region->share_pct[bin] = (uint8_t)pct;
        region->bins = pct > 0 ? bin + 1 : region->bins;
    }
}
