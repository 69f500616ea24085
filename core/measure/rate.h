/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_RATE_H
#define MEASURE_RATE_H
#include <stdint.h>

#include "measure/histogram.h"

/*
 * Least, mean and greatest rate of an accumulating quantity: power of an energy, in W when the
 * quantity is in J. A rate over a very short time says more about the counter's update period than
 * about the hardware, so intervals are joined until they are at least `window_ns` long. All three
 * are of the same windows, so the mean lies between the others.
 */
struct apapi_rate_window {
    double quantity;
    uint64_t length_ns;
};

struct apapi_rate {
    uint64_t window_ns;
    struct apapi_rate_window open;
    uint64_t held_ns;                /* of the open window, since its quantity grew last */
    struct apapi_rate_window closed; /* the last one: the end of a run may still join it */
    struct apapi_rate_window all;    /* the sum of those before it */
    uint64_t windows;                /* closed so far */
    double last;                     /* of the window that was closed last [per s]; NaN: none */
    double min;                      /* [per s]; of the windows before it */
    double max;
    struct apapi_histogram *histogram; /* of the windows' rates; NULL: no percentiles */
};

/** @param histogram borrowed and emptied; NULL: no percentiles */
void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns,
                     struct apapi_histogram *histogram);

/** Add a quantity and the time in which it came together [ns]. */
void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** The same, but leave the window open: the quantity is still on its way. */
void apapi_rate_hold(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** Throw the open window away: part of it is unknown. */
void apapi_rate_drop(struct apapi_rate *rate);

/**
 * The end: what is left joins the last window, and a run shorter than one window has that one
 * window. min and max are NaN without any. A second time, nothing changes.
 */
void apapi_rate_finish(struct apapi_rate *rate);

/** @return the mean rate of all windows, after apapi_rate_finish(); NaN without any. */
double apapi_rate_mean(const struct apapi_rate *rate);

/** @return the rate that was not exceeded in 95 % of the time; NaN: unknown. */
double apapi_rate_p95(const struct apapi_rate *rate);

#endif
