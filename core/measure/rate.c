/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rate.h"

#include <math.h>

void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns)
{
    *rate = (struct apapi_rate){.window_ns = window_ns, .min = NAN, .max = NAN};
}

static void close_window(struct apapi_rate *rate)
{
    double per_s = rate->pending / ((double)rate->pending_ns / 1e9);

    rate->min = fmin(rate->min, per_s); /* fmin and fmax take the number where one is NaN */
    rate->max = fmax(rate->max, per_s);
    rate->windows++;
    apapi_rate_drop(rate);
}

void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns)
{
    rate->pending += quantity;
    rate->pending_ns += dt_ns;
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
