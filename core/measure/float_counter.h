/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_FLOAT_COUNTER_H
#define MEASURE_FLOAT_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "measure/counter.h"
#include "measure/moment.h"

/**
 * The total of a counter whose raw values are doubles. It does not wrap, but it can restart: after
 * a decrease it has. An implausible increase is doubted as in a counter of integers.
 */
struct apapi_float_counter {
    double max_per_ns; /* greatest plausible increment per ns [raw units]; INFINITY: any */
    bool reopened; /* source reopened since the latest reading: the counter may start anywhere */
    struct apapi_float_point {
        bool valid;
        double raw;
        uint64_t begin_ns, at_ns; /* of that reading */
        uint64_t moved_ns;        /* last change */
        uint64_t ran_ns;  /* beginning of the reading before that: until then it was known to run */
        double increment; /* of the last move [raw units] */
    } last, doubted;
    double total;        /* [raw units] */
    uint64_t covered_ns; /* exact when finished */
    uint64_t segment_ns; /* end of the first reading since the last break */
    struct apapi_incidents incidents;
};

/** Forget all readings and totals, but keep the settings. */
void apapi_float_counter_restart(struct apapi_float_counter *counter);

/**
 * Take a reading. It is refused if it is not finite.
 * @param increment  the increment [raw units] and its time [ns]; set for APAPI_COUNT_ADDED and
 *                   APAPI_COUNT_RESET
 */
enum apapi_count apapi_float_counter_add(struct apapi_float_counter *counter, double raw,
                                         struct apapi_moment when, double *increment,
                                         uint64_t *since_ns);

/** Call it after the last reading. A reading that is still doubted counts as refused. */
void apapi_float_counter_finish(struct apapi_float_counter *counter);

#endif
