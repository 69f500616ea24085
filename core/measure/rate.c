/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rate.h"

#include <math.h>

#include "measure/extremes.h"

#define PERCENTILE 0.95

void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns, struct apapi_histogram *histogram)
{
    *rate = (struct apapi_rate){
        .window_ns = window_ns, .last = NAN, .min = NAN, .max = NAN, .histogram = histogram};
    if (histogram) {
        apapi_histogram_clear(histogram);
    }
}

static void close_window(struct apapi_rate *rate)
{
    double per_s = rate->pending * 1e9 / (double)rate->pending_ns;

    rate->min = lesser(rate->min, per_s);
    rate->max = greater(rate->max, per_s);
    rate->last = per_s;
    rate->windows++;
    if (rate->histogram) {
        apapi_histogram_add(rate->histogram, per_s, rate->pending_ns);
    }
    apapi_rate_drop(rate);
}

void apapi_rate_hold(struct apapi_rate *rate, double quantity, uint64_t dt_ns)
{
    rate->pending += quantity;
    rate->pending_ns += dt_ns;
}

void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns)
{
    apapi_rate_hold(rate, quantity, dt_ns);
    if (rate->pending_ns > 0 && rate->pending_ns >= rate->window_ns) {
        close_window(rate);
    }
}

void apapi_rate_drop(struct apapi_rate *rate)
{
    rate->pending = 0;
    rate->pending_ns = 0;
}

void apapi_rate_finish(struct apapi_rate *rate)
{
    if (rate->windows == 0 && rate->pending_ns > 0) {
        close_window(rate);
    }
}

double apapi_rate_p95(const struct apapi_rate *rate)
{
    double p95 = rate->histogram ? apapi_histogram_quantile(rate->histogram, PERCENTILE) : NAN;

    return isnan(p95) ? NAN : fmax(rate->min, fmin(rate->max, p95));
}
