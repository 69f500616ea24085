/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_METER_H
#define MEASURE_METER_H
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "measure/counter.h"
#include "measure/float_counter.h"
#include "measure/gauge.h"
#include "measure/moment.h"
#include "measure/probe.h"
#include "measure/rate.h"
#include "measure/value.h"

/**
 * Everything that is kept of one event while sampling. Pure arithmetic, no allocation. What each
 * reading of a counter changes lies together.
 */
struct apapi_meter {
    const struct apapi_event *event;
    uint64_t interval_ns;
    double value;   /* of the latest reading: a gauge's value or a counter's increment; NaN: none */
    int last_error; /* errno of the latest failed reading; 0: none */
    struct apapi_counter counter;        /* accumulating events */
    struct apapi_rate rate;              /* of the counter */
    struct apapi_probe probe;            /* of a counter of energy */
    struct apapi_values values;          /* as defined by the original APAPI */
    struct apapi_histogram *histogram;   /* of power; NULL: no percentiles */
    struct apapi_gauge gauge;            /* events that do not accumulate */
    struct apapi_float_counter doubles;  /* accumulating events whose values are doubles */
    struct apapi_value_result wanted[2]; /* the values that the event's definition selects */
};

/** @return whether its raw values are doubles that only grow. */
static inline bool apapi_counts_doubles(const struct apapi_event *event)
{
    return event->accumulates && event->type == APAPI_TYPE_FP64;
}

/** What a reading of a meter means for its domain. */
enum apapi_meter_step {
    APAPI_METER_KNOWN,   /* everything up to this reading is known; the energy is the new part */
    APAPI_METER_WAITING, /* failed or doubted: a later reading may add what is missing */
    APAPI_METER_BROKEN   /* the first reading, or something before it is lost */
};

/**
 * @param interval_ns between two readings [ns]; the event must outlive the meter
 * @param histogram borrowed, for energy and power only; NULL: no percentiles
 */
void apapi_meter_init(struct apapi_meter *meter, const struct apapi_event *event,
                      uint64_t interval_ns, struct apapi_histogram *histogram);

/** Forget everything except the settings. */
void apapi_meter_restart(struct apapi_meter *meter);

/** The source was opened again after an outage: a counter may have restarted. */
void apapi_meter_reopened(struct apapi_meter *meter);

/** Take a reading. @param energy_j  energy since the last known reading [J]; 0 if none. */
enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, struct apapi_moment when,
                                      double *energy_j);

/**
 * Take one of the two readings of a probe, see probe.h: it counts for nothing but the uncertainty.
 * @param second  it is not farther from the first one than an update of the counter should take
 */
void apapi_meter_probe(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when, bool second);

/** @return the update period of a counter as far as its moves and its source say [ns] */
uint64_t apapi_meter_update_ns(const struct apapi_meter *meter);

/** @return whether it has not moved since the first reading of the probe. */
bool apapi_meter_stands_still(const struct apapi_meter *meter);

/** @return the total so far, in the event's unit, for power gauges [J]; NaN: unknown. */
double apapi_meter_total(const struct apapi_meter *meter);

/** @return a gauge's latest value, a counter's latest rate [W or unit/s]; NaN: unknown. */
double apapi_meter_rate(const struct apapi_meter *meter);

/**
 * @return time of the latest reading with new information, ignoring those of an energy counter that
 * has not moved [ns]; 0: none yet.
 */
uint64_t apapi_meter_known_ns(const struct apapi_meter *meter);

#endif
