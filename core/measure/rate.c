/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rate.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Percentiles. */

#define SHARE 0.95
#define EXPONENT_BIAS 1023
#define FRACTION_BITS 52
#define BINS_BITS 6
#define HISTOGRAM_LEAST_VALUE 0x1p-14
#define BIN_ROUNDING 1e-6 /* relative: the bins' weights are rounded to units */
_Static_assert(1 << BINS_BITS == APAPI_HISTOGRAM_BINS, "bins are numbered by whole bits");
_Static_assert(sizeof(struct apapi_histogram) <= 2048, "a histogram has at most 2 KB");

/*
 * A positive double begins with its exponent, then comes the fraction: their first bits are the
 * numbers of octave and bin. @return octave * bins + bin; values in octave 0 count as 0.
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

/* @return the weight of all values up to the percentile. */
static double histogram_wanted(const struct apapi_histogram *histogram)
{
    uint64_t total = 0;

    for (int octave = 0; octave <= APAPI_HISTOGRAM_OCTAVES; octave++) {
        total += histogram->weights[octave];
    }
    return SHARE * (double)total;
}

/* @return the octave with bins that is farthest from the percentile; 0: `octave` is. */
static int histogram_farthest(const struct apapi_histogram *histogram, unsigned octave)
{
    double wanted = histogram_wanted(histogram), before = 0, own = 0, most = 0;
    int farthest = 0;

    for (unsigned i = 0; i <= APAPI_HISTOGRAM_OCTAVES; i++) {
        double weight = (double)histogram->weights[i];
        double distance = /* from the percentile to the octave, which begins at `before` */
            before > wanted ? before - wanted : fmax(0, wanted - before - weight);

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

/* Give bins to an octave that has none. @return its slot; 0: it gets none. */
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
    *units += (uint32_t)(weight >> histogram->unit_bits[slot - 1]) | 1; /* at least one unit */
}

/* @return in which bin this share of the weight ends; without `units`, weight is evenly spread. */
static int histogram_find_bin(const uint32_t units[APAPI_HISTOGRAM_BINS], double share)
{
    double wanted = 0, sum = 0;
    int last = (int)(share * (APAPI_HISTOGRAM_BINS - 1));

    for (int bin = 0; units && bin < APAPI_HISTOGRAM_BINS; bin++) {
        wanted += units[bin];
    }
    wanted *= share * (1 - BIN_ROUNDING);
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

double apapi_histogram_within(const struct apapi_histogram *histogram,
                              const struct apapi_summary *summary)
{
    double p95 = histogram ? apapi_histogram_p95(histogram) : NAN;

    return isnan(p95) ? NAN : fmax(summary->min, fmin(summary->max, p95));
}

/* Rates. */

#define WINDOW_READINGS 20 /* a window is at least as long as 20 times the readings at its ends */

static const struct apapi_rate_window none;

void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns, struct apapi_histogram *histogram)
{
    *rate = (struct apapi_rate){.window_ns = window_ns,
                                .first = NAN,
                                .last = NAN,
                                .min = NAN,
                                .max = NAN,
                                .least_before = NAN,
                                .most_before = NAN,
                                .histogram = histogram};
    if (histogram) {
        *histogram = (struct apapi_histogram){0};
    }
}

static double per_s(const struct apapi_rate_window *window)
{
    return window->quantity * 1e9 / duration(window->length_ns);
}

static void rate_join(struct apapi_rate_window *window, const struct apapi_rate_window *other)
{
    window->quantity += other->quantity;
    window->length_ns += other->length_ns;
}

/*
 * Settle the last closed window: nothing is added to it any more; `next` becomes the last one.
 * @param value  rate of the settled window [per s]
 */
static void rate_settle(struct apapi_rate *rate, double value, struct apapi_rate_window next)
{
    if (rate->closed.length_ns > 0) {
        rate->min = lesser(rate->min, value);
        rate->max = greater(rate->max, value);
        if (rate->histogram) {
            apapi_histogram_add(rate->histogram, value, rate->closed.length_ns);
        }
        rate_join(&rate->all, &rate->closed);
    }
    rate->closed = next;
}

/* The window before a standstill may lack what the counter shows after it: both are one. */
static void close_window(struct apapi_rate *rate)
{
    bool joined = rate->open_lapse == APAPI_LAPSE_STILL && rate->closed.length_ns > 0;

    if (joined) {
        rate_join(&rate->closed, &rate->open);
    } else {
        rate_settle(rate, rate->last, rate->open);
    }
    rate->last = per_s(&rate->closed);
    rate->first = rate->all.length_ns ? rate->first : rate->last;
    rate->windows++;
    rate->lapse = rate->open_lapse;
    rate->open_lapse = APAPI_LAPSE_NONE;
    rate->open = none;
    rate->open_blur_ns = rate->blur_ns;
}

static bool is_long_enough(const struct apapi_rate *rate)
{
    uint64_t blur_ns = rate->blur_ns > rate->open_blur_ns ? rate->blur_ns : rate->open_blur_ns;

    return rate->open.length_ns > 0 && rate->open.length_ns >= rate->window_ns &&
           rate->open.length_ns >= WINDOW_READINGS * blur_ns;
}

void apapi_rate_hold(struct apapi_rate *rate, double quantity, uint64_t dt_ns)
{
    rate->open.quantity += quantity;
    rate->open.length_ns += dt_ns;
    rate->held_ns += dt_ns;
}

void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns)
{
    apapi_rate_hold(rate, quantity, dt_ns);
    rate->held_ns = 0;
    if (is_long_enough(rate)) {
        close_window(rate);
    }
}

void apapi_rate_drop(struct apapi_rate *rate)
{
    rate_settle(rate, rate->last, none);
    rate->open = none;
    rate->open_blur_ns = rate->blur_ns;
    rate->held_ns = 0;
}

/* The rate of a time that is still held stays unknown. */
void apapi_rate_finish(struct apapi_rate *rate)
{
    rate->open.length_ns -= rate->held_ns;
    rate->held_ns = 0;
    if (rate->closed.length_ns > 0) {
        rate_join(&rate->closed, &rate->open);
        rate->open = none;
    } else if (rate->windows == 0 && rate->open.length_ns > 0) {
        rate->brief = !is_long_enough(rate);
        close_window(rate);
    }
    if (rate->closed.length_ns > 0) {
        rate->least_before = rate->min;
        rate->most_before = rate->max;
    }
    rate_settle(rate, per_s(&rate->closed), none);
}

double apapi_rate_mean(const struct apapi_rate *rate)
{
    return rate->all.length_ns ? per_s(&rate->all) : NAN;
}

/* Distances between readings. */

void apapi_period_add(struct apapi_period_meter *meter, uint64_t now_ns)
{
    if (meter->last_ns) {
        uint64_t distance_ns = now_ns - meter->last_ns;
        double before = (double)distance_ns - meter->mean_ns;

        meter->count++;
        meter->mean_ns += before / (double)meter->count;
        meter->squares += before * ((double)distance_ns - meter->mean_ns);
        if (distance_ns > meter->longest_ns) {
            meter->longest_ns = distance_ns;
        }
    }
    meter->last_ns = now_ns;
}

struct apapi_period apapi_period_result(const struct apapi_period_meter *meter)
{
    struct apapi_period period = {meter->count, NAN, NAN, NAN};

    if (meter->count > 0) {
        period.mean_s = meter->mean_ns / 1e9;
        period.longest_s = (double)meter->longest_ns / 1e9;
    }
    if (meter->count > 1) {
        period.sd_s = sqrt(meter->squares / (double)(meter->count - 1)) / 1e9;
    }
    return period;
}
