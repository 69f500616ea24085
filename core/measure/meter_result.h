/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_METER_RESULT_H
#define MEASURE_METER_RESULT_H
#include "measure/meter.h"

/* What a meter has measured in a run. */

/** @return the mean over the covered time, limited to the extremes; NaN: not known. */
double apapi_meter_mean(const struct apapi_event_result *result);

/** The time in which a meter should have been read [ns]. */
struct apapi_span {
    uint64_t late_ns;    /* before the first reading */
    uint64_t elapsed_ns; /* from the first to the last */
    uint64_t end_ns;     /* of the readings' clock; 0: at the last reading */
};

/** Call it after the last reading. Fills in the result. */
void apapi_meter_finish(struct apapi_meter *meter, const struct apapi_span *span,
                        struct apapi_event_result *result);

#endif
