/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_GAUGE_H
#define MEASURE_GAUGE_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/** A value that rises and falls: its extremes and its integral over time. */
struct apapi_gauge {
    bool rectangle; /* each value counts for the whole interval before it */
    bool valid;     /* `last` holds a good reading */
    double last;
    uint64_t last_ns;
    double min; /* NaN before the first good reading */
    double max;
    double integral; /* value x seconds over the covered time */
    uint64_t covered_ns;
    struct apapi_incidents incidents;
};

/** Forget all values, but keep the settings. */
void apapi_gauge_restart(struct apapi_gauge *gauge);

/** Take a reading. Values that are not finite are refused. @return the area added [value x s] */
double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns);

/** Note a failed reading: the time until the next good one is not covered. */
void apapi_gauge_failed(struct apapi_gauge *gauge);

#endif
