/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H
#include "measure/meter.h"

/* The result of a meter in a run, and how far it can be trusted. */

/** The time in which a meter should have been read [ns]. */
struct apapi_span {
    uint64_t late_ns;    /* before the first reading */
    uint64_t elapsed_ns; /* from the first to the last */
    uint64_t end_ns;     /* of the readings' clock; 0: at the last reading */
};

/** Call it after the last reading. Fills in the result. */
void apapi_meter_finish(struct apapi_meter *meter, const struct apapi_span *span,
                        struct apapi_event_result *result);

/** @return the uncertainty of its energy, if that were its end [J]; NaN: no energy is known. */
double apapi_meter_uncertainty_j(const struct apapi_meter *meter, const struct apapi_span *span);

#endif
