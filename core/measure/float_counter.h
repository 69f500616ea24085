/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FLOAT_COUNTER_H
#define MEASURE_FLOAT_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/moment.h"

/** The total of a counter whose raw values are doubles. It does not wrap, but it can restart. */
struct apapi_float_counter {
    double max_per_ns; /* greatest plausible increment per ns [raw units]; INFINITY: any */
    bool valid;        /* `last` holds an accepted reading */
    bool reopened; /* source reopened since the latest reading: the counter may start anywhere */
    double last;
    uint64_t begin_ns;   /* of that reading */
    uint64_t last_ns;    /* end of that reading */
    uint64_t moved_ns;   /* last change */
    double total;        /* [raw units] */
    uint64_t covered_ns; /* exact when finished */
    uint64_t segment_ns; /* end of the first reading since the last break */
    struct apapi_incidents incidents;
};

/** Forget all readings and totals, but keep the settings. */
void apapi_float_counter_restart(struct apapi_float_counter *counter);

/**
 * Take a reading. It is refused if it is not finite or has grown implausibly fast. After a decrease
 * the counter has restarted.
 * @param increment  the increment [raw units] and its time [ns]; set when true is returned
 */
bool apapi_float_counter_add(struct apapi_float_counter *counter, double raw,
                             struct apapi_moment when, double *increment, uint64_t *since_ns);

/** Call it after the last reading. */
void apapi_float_counter_finish(struct apapi_float_counter *counter);

#endif
