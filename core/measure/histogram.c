/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/histogram.h"

#include <math.h>
#include <string.h>

#define SHARE 0.95
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define BINS_BITS 6
#define HISTOGRAM_LEAST_VALUE 0x1p-14
#define ROUNDING 1e-6 /* the bins' weights are counted in units */
_Static_assert(1 << BINS_BITS == APAPI_HISTOGRAM_BINS, "bins are numbered by whole bits");
_Static_assert(sizeof(struct apapi_histogram) <= 2048, "a histogram has at most 2 KB");

void apapi_histogram_clear(struct apapi_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

/*
 * A positive double begins with its exponent, and the fraction follows: the first bits of both are
 * the numbers of octave and bin. @return octave * bins + bin; an octave of 0 counts as 0.
 */
static inline unsigned histogram_number(double value)
{
    const uint64_t before =
        (uint64_t)(EXPONENT_BIAS + APAPI_HISTOGRAM_LEAST - 1) * APAPI_HISTOGRAM_BINS;
    const uint64_t last = (uint64_t)(APAPI_HISTOGRAM_OCTAVES + 1) * APAPI_HISTOGRAM_BINS - 1;
    uint64_t bits;

    if (!(value >= HISTOGRAM_LEAST_VALUE)) {
        return 0;
    }
    memcpy(&bits, &value, sizeof bits);
    bits = (bits >> (FRACTION_BITS - BINS_BITS)) - before;
    return (unsigned)(bits < last ? bits : last);
}

/* The weight that the percentile's value and those below it have. */
static double histogram_wanted(const struct apapi_histogram *histogram)
{
    uint64_t total = 0;

    for (int octave = 0; octave <= APAPI_HISTOGRAM_OCTAVES; octave++) {
        total += histogram->weights[octave];
    }
    return SHARE * (double)total;
}

/* How much weight lies between the percentile and an octave, which reaches from `before` on. */
static double histogram_distance(double wanted, double before, double weight)
{
    return before > wanted ? before - wanted : fmax(0, wanted - before - weight);
}

/* @return the octave with bins that is farthest from the percentile; 0: `octave` is farther. */
static int histogram_farthest(const struct apapi_histogram *histogram, unsigned octave)
{
    double wanted = histogram_wanted(histogram), before = 0, own = 0, most = 0;
    int farthest = 0;

    for (unsigned i = 0; i <= APAPI_HISTOGRAM_OCTAVES; i++) {
        double weight = (double)histogram->weights[i];
        double distance = histogram_distance(wanted, before, weight);

        if (i == octave) {
            own = distance;
        } else if (histogram->slots[i] && distance > most) {
            most = distance;
            farthest = (int)i;
        }
        before += weight;
    }
    return most > own ? farthest : 0;
}

/* Bins for an octave that has none. @return its slot; 0: none. */
__attribute__((noinline, cold)) static unsigned
histogram_take_slot(struct apapi_histogram *histogram, unsigned octave)
{
    int farthest;

    if (octave == 0) {
        return 0;
    }
    if (histogram->used < APAPI_HISTOGRAM_DETAILED) {
        return histogram->slots[octave] = ++histogram->used;
    }
    farthest = histogram_farthest(histogram, octave);
    if (farthest) {
        unsigned slot = histogram->slots[octave] = histogram->slots[farthest];

        histogram->slots[farthest] = 0;
        histogram->unit_bits[slot - 1] = 0;
        memset(histogram->units[slot - 1], 0, sizeof histogram->units[slot - 1]);
    }
    return histogram->slots[octave];
}

/* Double the unit of an octave's bins. */
__attribute__((noinline, cold)) static void histogram_coarsen(struct apapi_histogram *histogram,
                                                              unsigned index)
{
    histogram->unit_bits[index]++;
    for (int bin = 0; bin < APAPI_HISTOGRAM_BINS; bin++) {
        histogram->units[index][bin] /= 2;
    }
}

void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight)
{
    unsigned number = histogram_number(value), octave = number / APAPI_HISTOGRAM_BINS;
    unsigned slot = histogram->slots[octave];
    uint32_t *units;

    histogram->weights[octave] += weight;
    if (!slot && !(slot = histogram_take_slot(histogram, octave))) {
        return;
    }
    units = &histogram->units[slot - 1][number % APAPI_HISTOGRAM_BINS];
    while (*units + (weight >> histogram->unit_bits[slot - 1]) >= UINT32_MAX) {
        histogram_coarsen(histogram, slot - 1);
    }
    *units += (uint32_t)(weight >> histogram->unit_bits[slot - 1]) | 1; /* never nothing */
}

/* @return which bin that share of the weight ends in; as if it were even where nothing is known. */
static int histogram_find_bin(const uint32_t units[APAPI_HISTOGRAM_BINS], double share)
{
    double wanted = 0, sum = 0;
    int last = (int)(share * (APAPI_HISTOGRAM_BINS - 1));

    for (int bin = 0; units && bin < APAPI_HISTOGRAM_BINS; bin++) {
        wanted += units[bin];
    }
    wanted *= share * (1 - ROUNDING);
    for (int bin = 0; units && bin < APAPI_HISTOGRAM_BINS; bin++) {
        sum += units[bin];
        if (units[bin]) {
            last = bin;
            if (sum >= wanted) {
                break;
            }
        }
    }
    return last;
}

/* @return the value that this share of an octave's weight does not exceed. */
static double histogram_value(const struct apapi_histogram *histogram, int octave, double share)
{
    int slot = histogram->slots[octave];
    int bin = histogram_find_bin(slot ? histogram->units[slot - 1] : NULL, share);
    double part = (bin + 0.5) / APAPI_HISTOGRAM_BINS;

    return octave ? ldexp(1 + part, APAPI_HISTOGRAM_LEAST + octave - 1) : 0;
}

double apapi_histogram_p95(const struct apapi_histogram *histogram)
{
    double wanted = histogram_wanted(histogram), before = 0;

    for (int octave = 0; octave <= APAPI_HISTOGRAM_OCTAVES && wanted > 0; octave++) {
        double weight = (double)histogram->weights[octave];

        if (weight > 0 && before + weight >= wanted) {
            return histogram_value(histogram, octave, (wanted - before) / weight);
        }
        before += weight;
    }
    return NAN;
}
