/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_UNCERTAINTY_H
#define MEASURE_UNCERTAINTY_H
#include "measure/meter.h"

/**
 * @param whole_ns     the time in which the event should have been read [ns]
 * @param interval_ns  between two readings [ns]
 * @return uncertainty of the event's energy [J]; NaN: no energy, estimated, or not known.
 */
double apapi_event_uncertainty_j(const struct apapi_event_result *result, uint64_t whole_ns,
                                 uint64_t interval_ns);

/**
 * What the readings show of it, for apapi_meter_finish().
 * @param result  all but its uncertainty
 * @return [J]; NaN as above
 */
double apapi_meter_uncertainty_j(const struct apapi_meter *meter,
                                 const struct apapi_event_result *result, uint64_t whole_ns);

/**
 * @param result  all but this
 * @return whether its energy may be wrong by more than its uncertainty and 1 %
 */
bool apapi_meter_is_rough(const struct apapi_meter *meter, const struct apapi_event_result *result,
                          uint64_t whole_ns);

#endif
