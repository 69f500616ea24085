/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_RATE_H
#define MEASURE_RATE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/*
 * The extremes of a stream of values that are not NaN. Start with NaN. Written so that each
 * function becomes one instruction.
 */

static inline double lesser(double least, double value)
{
    return least < value ? least : value;
}

static inline double greater(double greatest, double value)
{
    return greatest > value ? greatest : value;
}

/*
 * The 95th percentile of weighted values, in 2 KB: a processor's first cache holds it.
 *
 * Each octave (power of two) from 2^-14 to 2^28 has a weight. The octaves nearest to the percentile
 * also have 64 equal bins each, so that the percentile is right within 0.8 %. If values spread over
 * more octaves than there are bins for, the octaves farthest from the percentile have no bins.
 * Values below 2^-14 count as 0, values from 2^28 on as the greatest.
 */
enum {
    APAPI_HISTOGRAM_LEAST = -14, /* power of two of the first octave */
    APAPI_HISTOGRAM_OCTAVES = 42,
    APAPI_HISTOGRAM_DETAILED = 6, /* octaves that have bins at the same time */
    APAPI_HISTOGRAM_BINS = 64
};

/** All zero at the start. */
struct apapi_histogram {
    uint64_t weights[APAPI_HISTOGRAM_OCTAVES + 1]; /* the first: of values that count as 0 */
    uint8_t slots[APAPI_HISTOGRAM_OCTAVES + 1];    /* 1 + index of the octave's bins; 0: none */
    uint8_t used;                                  /* number of octaves with bins */
    uint8_t unit_bits[APAPI_HISTOGRAM_DETAILED];   /* the bins' weights are in 2^unit_bits */
    uint32_t units[APAPI_HISTOGRAM_DETAILED][APAPI_HISTOGRAM_BINS];
};

/** Add a value that is not NaN, with its weight. Does not allocate. */
void apapi_histogram_add(struct apapi_histogram *histogram, double value, uint64_t weight);

/** @return the value that 95 % of the weight does not exceed; NaN: the histogram is empty. */
double apapi_histogram_p95(const struct apapi_histogram *histogram);

/** @return apapi_histogram_p95() within summary->min and max; NaN: not known, or no histogram. */
double apapi_histogram_within(const struct apapi_histogram *histogram,
                              const struct apapi_summary *summary);

/*
 * Least, mean and greatest rate of an accumulating quantity: the power in W for an energy in J. A
 * rate over a very short time depends more on the counter's update period than on the hardware, so
 * intervals are joined to windows of at least `window_ns`. All three rates use the same windows, so
 * the mean lies between least and greatest.
 */
struct apapi_rate_window {
    double quantity;
    uint64_t length_ns;
};

/** Why the course of the quantity in a window is not known. Greater ones hide smaller ones. */
enum apapi_lapse {
    APAPI_LAPSE_NONE,
    APAPI_LAPSE_FAILED, /* a reading failed */
    APAPI_LAPSE_STILL   /* the counter stood still: it may have stopped in the window before */
};

struct apapi_rate {
    uint64_t window_ns;
    uint64_t blur_ns;      /* length of the latest reading, set by the caller [ns]; 0: not known. A
                              value is of any moment in it, so a window is many times as long */
    uint64_t open_blur_ns; /* length of the reading with which the open window begins [ns] */
    struct apapi_rate_window open;
    uint64_t held_ns;                /* time in the open window since its quantity last grew [ns] */
    enum apapi_lapse open_lapse;     /* of the open window, set by the caller */
    enum apapi_lapse lapse;          /* of the last closed window */
    struct apapi_rate_window closed; /* last closed window: the end of a run may be added to it, and
                                        a next one in which the counter stood still */
    struct apapi_rate_window all;    /* sum of the windows before `closed` */
    uint64_t windows;                /* number of closed windows */
    bool brief;                      /* the run was shorter than a window: it shows no extremes */
    double first;                    /* rate of the first closed window [per s]; NaN: none */
    double last;                     /* rate of the last closed window */
    double min;                      /* [per s]; of the windows before `closed` */
    double max;
    double least_before, most_before;  /* extremes without the last window; NaN: no other window */
    struct apapi_histogram *histogram; /* of the windows' rates; NULL: no percentiles */
};

/** @param histogram borrowed and emptied; NULL: no percentiles */
void apapi_rate_init(struct apapi_rate *rate, uint64_t window_ns,
                     struct apapi_histogram *histogram);

/** Add a quantity and its time [ns]. */
void apapi_rate_add(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** Like apapi_rate_add(), but keep the window open: more of the quantity may follow. */
void apapi_rate_hold(struct apapi_rate *rate, double quantity, uint64_t dt_ns);

/** Drop the open window: part of it is unknown. */
void apapi_rate_drop(struct apapi_rate *rate);

/**
 * End the run: the open window is added to the last closed one. A run shorter than a window has one
 * window, and is brief. Without a window, min and max are NaN. A second call changes nothing.
 */
void apapi_rate_finish(struct apapi_rate *rate);

/** @return the mean rate of all windows, after apapi_rate_finish(); NaN: there is none. */
double apapi_rate_mean(const struct apapi_rate *rate);

/** Forget the extremes of a run that was shorter than a window. */
static inline void apapi_rate_hide(const struct apapi_rate *rate, struct apapi_summary *summary)
{
    if (rate->brief) {
        summary->min = summary->max = summary->p95 = NAN;
    }
}

/** Distances between readings, by Welford's method. All zero at the start. */
struct apapi_period_meter {
    uint64_t last_ns; /* 0: no reading yet */
    uint64_t count;
    double mean_ns;
    double squares; /* sum of squared differences from the mean */
    uint64_t longest_ns;
};

/** Note a reading. */
void apapi_period_add(struct apapi_period_meter *meter, uint64_t now_ns);

/** @return the result so far. */
struct apapi_period apapi_period_result(const struct apapi_period_meter *meter);

#endif
