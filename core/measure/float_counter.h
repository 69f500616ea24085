/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FLOAT_COUNTER_H
#define MEASURE_FLOAT_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/moment.h"

/** The total of a counter whose raw values are doubles: it does not wrap, it can begin anew. */
struct apapi_float_counter {
    double max_per_ns; /* greatest plausible increment per ns [raw units]; INFINITY: any */
    bool valid;        /* `last` holds a believed reading */
    bool reopened;     /* since the latest reading: it may count from anywhere */
    double last;
    uint64_t begin_ns;   /* of that reading */
    uint64_t last_ns;    /* its end */
    uint64_t moved_ns;   /* when it had changed last */
    double total;        /* [raw units] */
    uint64_t covered_ns; /* exact when finished */
    uint64_t segment_ns; /* when the first reading since the last break ended */
    struct apapi_incidents incidents;
};

/** Forget all readings and totals, keep the settings. */
void apapi_float_counter_restart(struct apapi_float_counter *counter);

/**
 * Take a reading. One that is not finite or that grew implausibly fast is refused; after a decrease
 * the counter has begun anew.
 * @param increment  what was counted [raw units] and since when [ns]; set when true is returned
 */
bool apapi_float_counter_add(struct apapi_float_counter *counter, double raw,
                             struct apapi_moment when, double *increment, uint64_t *since_ns);

/** The last reading has been taken. */
void apapi_float_counter_finish(struct apapi_float_counter *counter);

#endif
