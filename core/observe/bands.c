/* SPDX-License-Identifier: BSD-3-Clause */
#include "observe/bands.h"

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

    for (size_t column = 0; column < FIT_COLUMNS; column++) {
        float *time_s = bands->time_s[column];

        for (size_t i = 0; i < half; i++) {
            time_s[i] = time_s[2 * i] + time_s[2 * i + 1];
        }
        memset(time_s + half, 0, half * sizeof(*time_s));
    }
    bands->bin_ns *= 2;
}

void bands_add(struct bands *bands, size_t column, uint64_t from_ns, uint64_t to_ns, double time_s)
{
    uint64_t from = from_ns > bands->origin_ns ? from_ns - bands->origin_ns : 0;
    uint64_t to = to_ns > bands->origin_ns ? to_ns - bands->origin_ns : 0;

    if (to <= from || bands->bin_ns == 0) {
        return;
    }
    while ((to - 1) / bands->bin_ns >= APAPI_REGION_BINS) {
        bands_join(bands);
    }
    for (uint64_t bin = from / bands->bin_ns, at = from; at < to; bin++) {
        uint64_t end = (bin + 1) * bands->bin_ns < to ? (bin + 1) * bands->bin_ns : to;

        bands->time_s[column][bin] += (float)(time_s * (double)(end - at) / (double)(to - from));
        at = end;
    }
}

void bands_sum(const struct bands *bands, const double power_w[FIT_COLUMNS],
               double sum_j[APAPI_REGION_BINS])
{
    for (size_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        sum_j[bin] = 0;
        for (size_t column = 0; column < FIT_COLUMNS; column++) {
            sum_j[bin] += power_w[column] * (double)bands->time_s[column][bin];
        }
    }
}

void bands_share(const struct bands *bands, size_t column, double power_w,
                 const double sum_j[APAPI_REGION_BINS], struct apapi_region_result *region)
{
    region->bins = 0;
    region->bin_ns = bands->bin_ns;
    for (uint32_t bin = 0; bin < APAPI_REGION_BINS; bin++) {
        double own_j = power_w * (double)bands->time_s[column][bin];
        double pct = sum_j[bin] > 0 ? fmin(round(100 * own_j / sum_j[bin]), 100) : 0;

        region->share_pct[bin] = (uint8_t)pct;
        region->bins = pct > 0 ? bin + 1 : region->bins;
    }
}
