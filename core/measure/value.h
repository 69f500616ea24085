/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_VALUE_H
#define MEASURE_VALUE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/*
 * value0 and value1 of an event, as defined by the original APAPI: value0 is the increment of a
 * counter or the value of a gauge; value1 is derived from value0 by an operation.
 */
/** How value1 comes from value0. */
enum apapi_operation {
    APAPI_OP1_NOP,
    APAPI_OP1_SAMPLE_DIFF,             /* this value0 minus the previous one */
    APAPI_OP1_DIV_DIFF_TIME,           /* value0 / time: power from energy */
    APAPI_OP1_SAMPLE1_MUL_DIFF_TIME,   /* value0 x time: energy from power, rectangle */
    APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME /* mean of two value0 x time: the same, trapezoid */
};

/** min, max, time-weighted mean and sum of a stream of values. */
struct apapi_value_stats {
    uint64_t count;
    double last;
    double min; /* NaN before the first value */
    double max;
    double weighted; /* sum of value x time [ns] */
    double time;     /* [ns] */
    double acc;
};

/** The two values of one event. */
struct apapi_values {
    enum apapi_operation operation;
    bool has_last; /* `last0` is a value0 */
    double last0;
    struct apapi_value_stats stats[2];
};

void apapi_values_restart(struct apapi_values *values, enum apapi_operation operation);

/**
 * Add value0 of an interval. Does not allocate.
 * @param value0  in raw units
 * @param dt_ns   length of the interval [ns], > 0
 */
void apapi_values_add(struct apapi_values *values, double value0, uint64_t dt_ns);

/** Add the first value0 of a gauge, which has no interval: it only precedes the next one. */
void apapi_values_first(struct apapi_values *values, double value0);

/** A reading was lost: the next value0 has no predecessor. */
void apapi_values_break(struct apapi_values *values);

/** Fill in the numbers of `result`, divided by result->factor; all NaN if there are no values. */
void apapi_value_result(const struct apapi_value_stats *stats, struct apapi_value_result *result);

#endif
