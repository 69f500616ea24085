/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/histogram.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define SHARE 0.95
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define BINS_BITS 6
#define ROUNDING 1e-6 /* the bins' weights are counted in units */
_Static_assert(1 << BINS_BITS == APAPI_HISTOGRAM_BINS, "bins are numbered by whole bits");
_Static_assert(sizeof(struct apapi_histogram) <= 2048, "a histogram has at most 2 KB");

struct histogram_cell {
    int octave; /* 0: the value counts as 0 */
    int bin;
};

void apapi_histogram_clear(struct apapi_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

/*
 * A positive double begins with its exponent, and the fraction follows: the first bits of both are
 * the number of octave and bin.
 */
static struct histogram_cell histogram_cell_of(double value)
{
    const int64_t first =
        (int64_t)(EXPONENT_BIAS + APAPI_HISTOGRAM_LEAST - 1) * APAPI_HISTOGRAM_BINS;
    const int64_t end = (int64_t)(APAPI_HISTOGRAM_OCTAVES + 1) * APAPI_HISTOGRAM_BINS;
    uint64_t bits;
    int64_t number;

    if (!(value > 0)) {
        return (struct histogram_cell){0, 0};
    }
    memcpy(&bits, &value, sizeof bits);
    number = (int64_t)(bits >> (FRACTION_BITS - BINS_BITS)) - first;
    number = number < end ? number : end - 1;
    if (number < APAPI_HISTOGRAM_BINS) {
        return (struct histogram_cell){0, 0};
    }
    return (struct histogram_cell){(int)(number / APAPI_HISTOGRAM_BINS),
                                   (int)(number % APAPI_HISTOGRAM_BINS)};
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
static int histogram_farthest(const struct apapi_histogram *histogram, int octave)
{
    double wanted = histogram_wanted(histogram), before = 0, own = 0, most = 0;
    int farthest = 0;

    for (int i = 0; i <= APAPI_HISTOGRAM_OCTAVES; i++) {
        double weight = (double)histogram->weights[i];
        double distance = histogram_distance(wanted, before, weight);

        if (i == octave) {
            own = distance;
        } else if (histogram->places[i] && distance > most) {
            most = distance;
            farthest = i;
        }
        before += weight;
    }
    return most > own ? farthest : 0;
}

/* Bins for an octave that has none. @return whether it has some now. */
static bool histogram_find_bins(struct apapi_histogram *histogram, int octave)
{
    int farthest;

    if (histogram->used < APAPI_HISTOGRAM_DETAILED) {
        histogram->places[octave] = ++histogram->used;
        return true;
    }
    farthest = histogram_farthest(histogram, octave);
    if (!farthest) {
        return false;
    }
    histogram->places[octave] = histogram->places[farthest];
    histogram->places[farthest] = 0;
    memset(&histogram->bins[histogram->places[octave] - 1], 0, sizeof *histogram->bins);
    return true;
}

static void histogram_double_unit(struct apapi_histogram_bins *bins)
{
    bins->unit_bits++;
    for (int bin = 0; bin < APAPI_HISTOGRAM_BINS; bin++) {
        bins->units[bin] /= 2;
    }
}

static void histogram_add_to_bin(struct apapi_histogram_bins *bins, int bin, uint64_t weight)
{
    uint64_t sum = bins->rest + weight;

    while ((sum >> bins->unit_bits) > UINT32_MAX - bins->units[bin]) {
        histogram_double_unit(bins);
    }
    bins->units[bin] += (uint32_t)(sum >> bins->unit_bits);
    bins->rest = sum & ((UINT64_C(1) << bins->unit_bits) - 1);
}

void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight)
{
    struct histogram_cell cell = histogram_cell_of(value);

    histogram->weights[cell.octave] += weight;
    if (cell.octave == 0 ||
        (!histogram->places[cell.octave] && !histogram_find_bins(histogram, cell.octave))) {
        return;
    }
    histogram_add_to_bin(&histogram->bins[histogram->places[cell.octave] - 1], cell.bin, weight);
}

/* @return which bin that share of the weight ends in; as if it were even where nothing is known. */
static int histogram_find_bin(const struct apapi_histogram_bins *bins, double share)
{
    double wanted = 0, sum = 0;
    int last = (int)(share * (APAPI_HISTOGRAM_BINS - 1));

    for (int bin = 0; bins && bin < APAPI_HISTOGRAM_BINS; bin++) {
        wanted += bins->units[bin];
    }
    wanted *= share * (1 - ROUNDING);
    for (int bin = 0; bins && bin < APAPI_HISTOGRAM_BINS; bin++) {
        sum += bins->units[bin];
        if (bins->units[bin]) {
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
    int place = histogram->places[octave];
    int bin = histogram_find_bin(place ? &histogram->bins[place - 1] : NULL, share);
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
