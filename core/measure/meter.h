/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_METER_H
#define MEASURE_METER_H
#include "apapi/measurement.h"
#include "apapi/source.h"
#include "measure/counter.h"
#include "measure/rate.h"

#define GAUGE_CHANGES 32

/** A value that rises and falls: its extremes and its integral over time. */
struct apapi_gauge {
    bool rectangle;     /* each value counts for the whole interval before it */
    uint64_t stated_ns; /* its source's word for how long a value is held; 0: none */
    bool valid;         /* `last` holds a good reading */
    double last;
    uint64_t last_ns;
    uint64_t
        length_ns; /* of the reading to be added, set by its caller: it is of any moment in it */
    uint64_t longest_ns; /* of all */
    bool between;        /* there is a good reading before that one, too */
    double before;       /* that one */
    uint64_t step_ns;    /* from it to the last one */
    double min;          /* NaN before the first good reading */
    double max;
    double integral; /* value x seconds over the covered time */
    uint64_t covered_ns;
    uint64_t
        deviations;    /* readings between two others, each compared with the line through these */
    double squares;    /* sum of the squares of what each may have added in error [value x s] */
    double squares_s2; /* sum of the squares of the times between two readings [s^2] */
    uint64_t changes;  /* readings with another value than the one before */
    uint64_t changed_ns[GAUGE_CHANGES]; /* of the latest of them, in turn */
    double lively_ns; /* between two of these where they were closest; infinite: not known */
    struct apapi_incidents incidents;
};

/** Forget all values, but keep the settings. */
void apapi_gauge_restart(struct apapi_gauge *gauge);

/** Take a reading. Values that are not finite are refused. @return the area added [value x s] */
double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns);

/**
 * How far the integral may be from the truth if the moments of the readings have nothing to do with
 * the course of the value: from how far each reading lies from the line between its neighbours, and
 * what all of them may have missed.
 * @param most      the greatest value that is plausible
 * @param whole_ns  all of the time, of which some may not be covered
 * @return [value x s], of all of the covered time; to be exceeded in 5 % of runs
 */
double apapi_gauge_uncertainty(const struct apapi_gauge *gauge, double most, uint64_t whole_ns);

/** The same, to be exceeded once in a million runs; infinite where values are held. */
double apapi_gauge_bound(const struct apapi_gauge *gauge, double most, uint64_t whole_ns);

/** Note a failed reading: the time until the next good one is not covered. */
void apapi_gauge_failed(struct apapi_gauge *gauge);

#define APAPI_PROBE_PERIODS 20 /* so many update periods are tried */

/*
 * The energy of one update of a counter, seen at moments that have nothing to do with the load: by
 * a probe, two readings that are hardly farther apart than an update, or between two usual readings
 * where updates are long. A reading lacks the energy of one update at most, and the end of a run is
 * such a moment as well: of n + 1 of them it is the greatest once in n + 1 runs. The times that
 * probes wait for a move show how long an update is. Pure arithmetic.
 */
struct apapi_probe {
    uint64_t known_ns;  /* update period as stated or learned from usual readings */
    uint64_t update_ns; /* the same, or what probes tell if it is shorter: `most` is for that */
    double most;        /* energy of one update [raw units]; 0: not seen yet */
    double updates;     /* so many made the increment in which it was seen, >= 1 */
    uint64_t increments;
    uint64_t next;       /* the increment to be looked at; the distances grow */
    bool open;           /* the first of two readings has been taken; no other value since */
    double first;        /* its value */
    double latest;       /* value of the latest reading of a probe */
    double recent_least; /* energy of one update in the latest probe [raw units] ... */
    double recent_most;  /* ... whose readings may take long */
    struct apapi_moment first_when;  /* of its first reading ... */
    struct apapi_moment latest_when; /* ... and of its latest one */
    uint64_t still_ns;               /* of this probe */
    uint64_t longest_ns;             /* that a probe waited for a move */
    uint64_t moves;                  /* that probes saw */
    double fit[APAPI_PROBE_PERIODS]; /* logarithms of the likelihoods of the waits for a period of
                                        `known_ns` / sqrt(2)^i */
};

/** Forget what was seen. @param update_ns  update period [ns] */
void apapi_probe_init(struct apapi_probe *probe, uint64_t update_ns);

/** The update period is known better: what was seen with one that is far from it is for that. */
void apapi_probe_learn(struct apapi_probe *probe, uint64_t update_ns);

/** An increment between two usual readings [raw units, ns]. */
void apapi_probe_note(struct apapi_probe *probe, double increment, uint64_t since_ns);

/** @return the update period, no shorter than what the probes' longest wait for a move tells [ns]
 */
uint64_t apapi_probe_update_ns(const struct apapi_probe *probe);

/** The first reading of a probe. */
void apapi_probe_open(struct apapi_probe *probe, double value, struct apapi_moment when);

/**
 * The second one; without a first one nothing happens. If it shows the same value, one more may
 * follow.
 * @param most  increment that is plausible [raw units]
 */
void apapi_probe_close(struct apapi_probe *probe, double value, struct apapi_moment when,
                       double most);

/*
 * value0 and value1 of an event, as defined by the original APAPI: value0 is the increment of a
 * counter or the value of a gauge; value1 is derived from value0 by an operation.
 */
enum apapi_operation {
    APAPI_OP1_NOP,
    APAPI_OP1_SAMPLE_DIFF,             /* this value0 minus the previous one */
    APAPI_OP1_DIV_DIFF_TIME,           /* value0 / time: power from energy */
    APAPI_OP1_SAMPLE1_MUL_DIFF_TIME,   /* value0 x time: energy from power, rectangle */
    APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME /* mean of two value0 x time: the same, trapezoid */
};

/** min, max, time-weighted mean and sum of a stream of values. */
struct apapi_value_stats {
    uint64_t count;
    double last;
    double min; /* NaN before the first value */
    double max;
    double weighted; /* sum of value x time [ns] */
    double time;     /* [ns] */
    double acc;
};

/** The two values of one event. */
struct apapi_values {
    enum apapi_operation operation;
    bool has_last; /* `last0` is a value0 */
    double last0;
    struct apapi_value_stats stats[2];
};

void apapi_values_restart(struct apapi_values *values, enum apapi_operation operation);

/**
 * Add value0 of an interval. Does not allocate.
 * @param value0  in raw units
 * @param dt_ns   length of the interval [ns], > 0
 */
void apapi_values_add(struct apapi_values *values, double value0, uint64_t dt_ns);

/** Add the first value0 of a gauge, which has no interval: it only precedes the next one. */
void apapi_values_first(struct apapi_values *values, double value0);

/** A reading was lost: the next value0 has no predecessor. */
void apapi_values_break(struct apapi_values *values);

/** Fill in the numbers of `result`, divided by result->factor; all NaN if there are no values. */
void apapi_value_result(const struct apapi_value_stats *stats, struct apapi_value_result *result);

/** The result of a look at a counter after its last reading. */
enum apapi_life {
    APAPI_LIFE_UNKNOWN,
    APAPI_LIFE_DOUBTED, /* it has not moved in an update: another look decides */
    APAPI_LIFE_ENDED,   /* nor in the one after that */
    APAPI_LIFE_SEEN
};

/**
 * Everything that is kept of one event while sampling. Pure arithmetic, no allocation. What each
 * reading of a counter changes lies together.
 */
struct apapi_meter {
    const struct apapi_event *event;
    uint64_t interval_ns;
    bool coarse;       /* what is shown may tell no moment of a reading that is not */
    uint64_t dense_ns; /* begin of the latest such reading; 0: none */
    double value; /* of the latest reading: a gauge's value or a counter's increment; NaN: none */
    uint64_t value_ns; /* in which `value`, if it is known, was counted; 0: not known */
    uint64_t known_ns; /* latest reading that is shown and has new information, which an energy
                          counter that has not moved has not; 0: none yet */
    int last_error;    /* errno of the latest failed reading; 0: none */
    struct apapi_unshown {
        double quantity; /* [raw units], of a gauge [value x s] */
        uint64_t since_ns;
        bool broken;                     /* something is lost in it */
    } unshown;                           /* since the latest reading that is shown */
    struct apapi_counter counter;        /* accumulating events */
    struct apapi_rate rate;              /* of the counter */
    struct apapi_probe probe;            /* of a counter of energy */
    enum apapi_life life;                /* at its end */
    struct apapi_values values;          /* as defined by the original APAPI */
    struct apapi_histogram *histogram;   /* of power; NULL: no percentiles */
    struct apapi_gauge gauge;            /* events that do not accumulate */
    struct apapi_value_result wanted[2]; /* the values that the event's definition selects */
};

/** The meaning of a meter's reading for its domain. */
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

/**
 * Take a reading.
 * @param energy_j  energy since the last known reading [J]; 0 if none. NULL: the reading is for the
 *                  sums and the uncertainty alone: nothing that is shown begins or ends with it
 */
enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, struct apapi_moment when,
                                      double *energy_j);

/** The end: what is not shown yet will not be followed by a reading that is. */
void apapi_meter_show_rest(struct apapi_meter *meter);

/**
 * Take one of the two readings of a probe, see struct apapi_probe: it counts for nothing but the
 * uncertainty.
 * @param second  it is not farther from the first one than an update of the counter should take
 */
void apapi_meter_probe(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when, bool second);

/** @return whether its source states its update period, or its moves have shown it. */
static inline bool apapi_meter_shows_update(const struct apapi_meter *meter)
{
    return meter->counter.update.learned || meter->counter.update.stated_ns;
}

/** @return the same, or enough probes have. */
bool apapi_meter_knows_update(const struct apapi_meter *meter);

/** @return that period, no shorter than it was seen to stand still [ns] */
uint64_t apapi_meter_longest_update_ns(const struct apapi_meter *meter);

/** The last reading of a counter [raw units, ns]. */
struct apapi_last {
    double raw, increment;                      /* increment: of its last move */
    uint64_t begin_ns, at_ns, moved_ns, ran_ns; /* as in struct apapi_counter_point */
    bool good;                                  /* there is one, and no later one is doubted */
};

struct apapi_last apapi_meter_last(const struct apapi_meter *meter);

/**
 * @return how long after its last reading a counter is looked at once more, to tell one that stands
 *         still from one that lives [ns]; 0: that would tell nothing
 */
uint64_t apapi_meter_check_ns(const struct apapi_meter *meter);

/** Take that reading, which is counted nowhere. @return whether it takes another one, as late. */
bool apapi_meter_check(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when);

/** @return the total so far, in the event's unit, for power gauges [J]; NaN: unknown. */
double apapi_meter_total(const struct apapi_meter *meter);

/** @return a gauge's latest value, a counter's latest rate [W or unit/s]; NaN: unknown. */
double apapi_meter_rate(const struct apapi_meter *meter);

/* The result of a meter in a run, and how far it can be trusted: result.c. */

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

/** Add the counts of another event or measurement; `samples` becomes the greater one. */
void incidents_add(struct apapi_incidents *sum, const struct apapi_incidents *one);

#endif
