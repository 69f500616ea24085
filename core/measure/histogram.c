/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/histogram.h"

#include <math.h>
#include <string.h>

#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define PARTS_BITS 6
_Static_assert(1 << PARTS_BITS == APAPI_HISTOGRAM_PARTS, "parts are numbered by whole bits");

void apapi_histogram_clear(struct apapi_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

/*
 * A positive double begins with its exponent, and the fraction follows: its first bits, those that
 * count the parts too, are the number of its bin.
 */
static int bin_of(double value)
{
    const int64_t first = (int64_t)(EXPONENT_BIAS + APAPI_HISTOGRAM_LEAST) * APAPI_HISTOGRAM_PARTS;
    uint64_t bits;
    int64_t bin;

    if (!(value > 0)) {
        return 0;
    }
    memcpy(&bits, &value, sizeof bits);
    bin = (int64_t)(bits >> (FRACTION_BITS - PARTS_BITS)) - first;
    if (bin < 0) {
        return 0;
    }
    return bin < APAPI_HISTOGRAM_BINS ? (int)bin : APAPI_HISTOGRAM_BINS - 1;
}

static double middle_of(int bin)
{
    int power = bin / APAPI_HISTOGRAM_PARTS + APAPI_HISTOGRAM_LEAST;
    double part = (bin % APAPI_HISTOGRAM_PARTS + 0.5) / APAPI_HISTOGRAM_PARTS;

    return ldexp(1 + part, power);
}

void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight)
{
    histogram->weights[bin_of(value)] += weight;
    histogram->total += weight;
}

double apapi_histogram_quantile(const struct apapi_histogram *histogram, double share)
{
    double wanted = share * (double)histogram->total, sum = 0;

    for (int bin = 0; bin < APAPI_HISTOGRAM_BINS && histogram->total; bin++) {
        sum += (double)histogram->weights[bin];
        if (sum >= wanted && histogram->weights[bin]) {
            return middle_of(bin);
        }
    }
    return NAN;
}
