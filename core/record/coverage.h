/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORD_COVERAGE_H
#define APAPI_RECORD_COVERAGE_H
#include <stdbool.h>

#include "apapi/measurement.h"

/* Which part of the time the energy is of, 0..1. NaN: not known. */

/** Below this it is said beside the energy. */
#define COVERAGE_WHOLE 0.995

/** @return whether it is known, and so small that it must be said beside the energy. */
bool coverage_is_low(double covered);

/** @return it in percent, rounded down to one decimal: no more is covered than it says. */
double coverage_pct(double covered);

/** Of an event. */
double coverage_of_event(const struct apapi_event_result *event, const struct apapi_measurement *m);

/** Of the total: the least of the domains that add up. */
double coverage_of_total(const struct apapi_measurement *m);

/** @return the estimate for the rest of a domain's time [J]; 0: there is none; NaN: not known. */
double coverage_rest_of(const struct apapi_domain_result *domain);

/** @return the estimates of all domains that add up [J]; NaN: not asked for, or one not known. */
double coverage_rest_j(const struct apapi_measurement *m);

#endif
