/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_RATE_H
#define MEASURE_RATE_H
#include <stdint.h>

#include "measure/histogram.h"

/*
 * Least and greatest rate of an accumulating quantity: power of an energy, in W when the quantity
 * is in J. A rate over a very short time says more about the counter's update period than about the
 * hardware, so intervals are joined until they are at least `window_ns` long.
 */
struct apapi_rate {
    uint64_t window_ns;
    double pending; /* quantity of the window that is open */
    uint64_t pending_ns;
    uint64_t windows; /* closed so far */
    double last;      /* of the window that was closed last [per s]; NaN: none */
    double min;       /* [per s] */
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

/** The end: a run shorter than one window has that one window. min and max are NaN without any. */
void apapi_rate_finish(struct apapi_rate *rate);

/** @return the rate that was not exceeded in 95 % of the time; NaN: unknown. */
double apapi_rate_p95(const struct apapi_rate *rate);

#endif
