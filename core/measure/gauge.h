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
    uint64_t
        length_ns; /* of the reading to be added, set by its caller: it is of any moment in it */
    uint64_t longest_ns; /* of all */
    bool between;        /* there is a good reading before that one, too */
    double before;       /* that one */
    uint64_t step_ns;    /* from it to the last one */
    double min;          /* NaN before the first good reading */
    double max;
    double integral; /* value x seconds over the covered time */
    uint64_t covered_ns;
    uint64_t
        deviations; /* readings between two others, each compared with the line through these */
    double squares; /* sum of the squares of what each may have added in error [value x s] */
    struct apapi_incidents incidents;
};

/** Forget all values, but keep the settings. */
void apapi_gauge_restart(struct apapi_gauge *gauge);

/** Take a reading. Values that are not finite are refused. @return the area added [value x s] */
double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns);

/**
 * How far the integral may be from the truth if the moments of the readings have nothing to do with
 * the course of the value: from how far each reading lies from the line between its neighbours.
 * With fewer than three readings in a row all of the integral is uncertain.
 * @return [value x s], of all of the covered time; to be exceeded in 5 % of runs
 */
double apapi_gauge_uncertainty(const struct apapi_gauge *gauge);

/** The same, to be exceeded once in a million runs. @return INFINITY: it may be any */
double apapi_gauge_bound(const struct apapi_gauge *gauge);

/** Note a failed reading: the time until the next good one is not covered. */
void apapi_gauge_failed(struct apapi_gauge *gauge);

#endif
