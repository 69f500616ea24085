/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_THRESHOLD_H
#define MEASURE_THRESHOLD_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/overflow.h"

/*
 * One threshold, and what readings mean for it. Pure arithmetic: no clock, no allocation. Totals
 * are long doubles, which hold any 64-bit count.
 */
struct apapi_threshold {
    long double level;
    long double last; /* the latest value */
    long double base; /* EVERY: the total from which it counts */
    long double told; /* EVERY: crossings so far, a whole number; TOTAL: 0 or 1 */
    uint64_t hold_ns;
    double hysteresis;
    uint64_t last_ns;     /* time of the latest value */
    uint64_t earliest_ns; /* no crossing is before it: the first value, the latest crossing */
    uint64_t beyond_ns;   /* since when a level is passed, without a break */
    enum apapi_overflow_mode mode;
    bool known;  /* there is a latest value */
    bool beyond; /* a level is passed, and the value has not gone back since */
    bool done;   /* that has been a crossing */
};

/** What one value has crossed. */
struct apapi_threshold_crossing {
    uint64_t count;
    uint64_t first_ns, time_ns; /* of the first and the latest one */
    double value;               /* at `time_ns` */
};

/** @return whether it is about totals, not about levels. */
static inline bool apapi_threshold_counts(const struct apapi_threshold *threshold)
{
    return threshold->mode == APAPI_OVERFLOW_EVERY || threshold->mode == APAPI_OVERFLOW_TOTAL;
}

/** A run begins. Settings stay. */
void apapi_threshold_restart(struct apapi_threshold *threshold);

/**
 * Take the total of a counter.
 * @param from_ns   its previous value is of this time; 0: of the time that was given with that
 * @param crossing  result, if it returns true
 * @return whether it was crossed
 */
bool apapi_threshold_count(struct apapi_threshold *threshold, uint64_t from_ns, uint64_t now_ns,
                           long double total, struct apapi_threshold_crossing *crossing);

/**
 * Take a value of a gauge or a rate. As apapi_threshold_count().
 */
bool apapi_threshold_level(struct apapi_threshold *threshold, uint64_t now_ns, double value,
                           struct apapi_threshold_crossing *crossing);

/** The value is not known for a while: what has to be so for a time begins again. */
void apapi_threshold_break(struct apapi_threshold *threshold);

/**
 * @param scale  of one unit of a counter, > 0
 * @return a threshold in units of the counter, which is a whole number where it is nearly one
 */
long double apapi_threshold_units(double threshold, double scale);

#endif
