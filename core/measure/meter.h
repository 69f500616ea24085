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

/**
 * @param whole_ns     the time in which the event should have been read [ns]
 * @param interval_ns  between two readings [ns]
 * @return uncertainty of the event's energy [J]; NaN: no energy, estimated, or not known.
 */
double apapi_event_uncertainty_j(const struct apapi_event_result *result, uint64_t whole_ns,
                                 uint64_t interval_ns);

#endif
