/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_RATE_H
#define MEASURE_RATE_H
#include <stdbool.h>
#include <stdint.h>

#include "measure/histogram.h"

/*
 * Least, mean and greatest rate of an accumulating quantity: the power in W for an energy in J. A
 * rate over a very short time depends more on the counter's update period than on the hardware, so
 * intervals are joined until they are at least `window_ns` long. All three use the same windows, so
 * the mean lies between the others.
 */
struct apapi_rate_window {
    double quantity;
    uint64_t length_ns;
};

struct apapi_rate {
    uint64_t window_ns;
    uint64_t blur_ns;      /* length of the latest reading, if its caller knows: its value is of any
                              moment      in it, so a window is many times as long */
    uint64_t open_blur_ns; /* the same of the reading with which the open window begins */
    struct apapi_rate_window open;
    uint64_t held_ns;                /* of the open window, since its quantity last grew */
    struct apapi_rate_window closed; /* the last one: the end of a run may still be added to it */
    struct apapi_rate_window all;    /* the sum of the windows before it */
    uint64_t windows;                /* closed so far */
    double first;                    /* rate of the first closed window [per s]; NaN: none */
    double last;                     /* rate of the last closed window */
    double min;                      /* [per s]; of the windows before the last one */
    double max;
    double least_before, most_before;  /* of the same when finished; NaN: there was one window */
    struct apapi_histogram *histogram; /* of the windows' rates; NULL: no percentiles */
};

/** @param histogram borrowed and emptied; NULL: no percentiles */
void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns,
                     struct apapi_histogram *histogram);

/** Add a quantity and its time [ns]. */
void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** The same, but keep the window open: more of the quantity may follow. */
void apapi_rate_hold(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** Drop the open window: part of it is unknown. */
void apapi_rate_drop(struct apapi_rate *rate);

/**
 * End: the rest is added to the last window. A run shorter than one window has one window. min and
 * max are NaN if there is none. A second call changes nothing.
 */
void apapi_rate_finish(struct apapi_rate *rate);

/** @return the mean rate of all windows, after apapi_rate_finish(); NaN without any. */
double apapi_rate_mean(const struct apapi_rate *rate);

/** @return the rate that was not exceeded in 95 % of the time; NaN: unknown. */
double apapi_rate_p95(const struct apapi_rate *rate);

#endif
