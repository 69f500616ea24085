/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DOCTOR_EVALUATE_H
#define APAPI_DOCTOR_EVALUATE_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/source.h"

/** Two readings of one event. A working energy counter must have moved in between. */
struct two_readings {
    struct apapi_reading before;
    struct apapi_reading after;
    double elapsed_s; /* time between the readings [s], > 0 */
};

/**
 * @param text  result: why the event is no working meter; set only then
 * @return whether the event is a working meter
 */
bool evaluate_event(const struct apapi_event *event, const struct two_readings *readings,
                    char *text, size_t size);

#endif
