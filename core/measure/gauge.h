/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_GAUGE_H
#define MEASURE_GAUGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/** A value that goes up and down: its extremes and its integral over time (trapezoid or
 * rectangle). */
struct apapi_gauge {
    bool rectangle; /* the integral takes each value for the whole interval before it */
    bool valid;     /* `last` holds a good reading */
    double last;
    uint64_t last_ns;
    double min; /* NaN before the first good reading */
    double max;
    double integral; /* value x seconds over the covered time */
    uint64_t covered_ns;
    struct apapi_incidents incidents;
};

/** Forget all values, keep the settings. */
void apapi_gauge_restart(struct apapi_gauge *gauge);

/** Take a reading. Values that are not finite are refused. @return the area added [value x s] */
double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns);

/** Take note of a reading that failed: the time until the next good one stays uncovered. */
void apapi_gauge_failed(struct apapi_gauge *gauge);

#endif
