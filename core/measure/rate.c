/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/rate.h"

#include <math.h>

#include "base/duration.h"
#include "measure/extremes.h"

#define WINDOW_READINGS 20 /* a window is as long as so many readings at its ends */

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
        apapi_histogram_clear(histogram);
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
 * Close the last window: nothing can be added to it any more, and `next` becomes the last one.
 * @param value  its rate [per s]
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

static void close_window(struct apapi_rate *rate)
{
    rate_settle(rate, rate->last, rate->open);
    rate->last = per_s(&rate->open);
    rate->first = rate->windows ? rate->first : rate->last;
    rate->windows++;
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

/* A quantity that is still held stays unknown. */
void apapi_rate_finish(struct apapi_rate *rate)
{
    rate->open.length_ns -= rate->held_ns;
    rate->held_ns = 0;
    if (rate->closed.length_ns > 0) {
        rate_join(&rate->closed, &rate->open);
        rate->open = none;
    } else if (rate->windows == 0 && rate->open.length_ns > 0) {
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

double apapi_rate_p95(const struct apapi_rate *rate)
{
    double p95 = rate->histogram ? apapi_histogram_p95(rate->histogram) : NAN;

    return isnan(p95) ? NAN : fmax(rate->min, fmin(rate->max, p95));
}
