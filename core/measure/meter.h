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
    uint64_t stated_ns; /* how long a value is held, as the source states [ns]; 0: not stated */
    bool valid;         /* `last` holds a good reading */
    bool doubted;       /* the latest reading is a power that no device has: `doubt` */
    double doubt;       /* ... which counts if the next reading is as high */
    uint64_t doubt_ns;
    double last;
    uint64_t last_ns;
    uint64_t length_ns;  /* length of the reading to be added, set by the caller [ns]: the value may
                            be of any moment in it */
    uint64_t longest_ns; /* length of the longest reading [ns] */
    bool between;        /* `before` is a good reading, too */
    double before;       /* value of the reading before `last` */
    uint64_t step_ns;    /* time from that reading to `last` [ns] */
    double min;          /* NaN before the first good reading */
    double max;
    double integral; /* value x seconds over the covered time */
    uint64_t covered_ns;
    uint64_t
        deviations;    /* readings that were compared with the line between their two neighbours */
    double squares;    /* sum of the squares of the errors that each may have added [value x s] */
    double squares_s2; /* sum of the squares of the times between two readings [s^2] */
    uint64_t changes;  /* readings with another value than the reading before */
    uint64_t changed_ns[GAUGE_CHANGES]; /* times of the latest changes, as a ring [ns] */
    double lively_ns; /* shortest time for which values were held [ns]; infinite: not known */
    struct apapi_incidents incidents;
};

/** Forget all values, but keep the settings. */
void apapi_gauge_restart(struct apapi_gauge *gauge);

/** Take a reading. Values that are not finite are refused. @return the area added [value x s] */
double apapi_gauge_add(struct apapi_gauge *gauge, double value, uint64_t now_ns);

/**
 * Return how far the integral may be from the truth, if the moments of the readings do not depend
 * on the course of the value: from the distance of each reading from the line between its
 * neighbours, and from what all readings may have missed.
 * @param most      the greatest plausible value
 * @param whole_ns  the whole time, of which a part may not be covered [ns]
 * @return [value x s], for all of the covered time; 5 % of runs exceed it
 */
double apapi_gauge_uncertainty(const struct apapi_gauge *gauge, double most, uint64_t whole_ns);

/** Like apapi_gauge_uncertainty(); one run in a million exceeds it. Infinite if values are held. */
double apapi_gauge_bound(const struct apapi_gauge *gauge, double most, uint64_t whole_ns);

#define APAPI_PROBE_PERIODS 20 /* number of update periods that are tried */

/*
 * The energy of one update of a counter, seen at moments that do not depend on the load: by a probe
 * (two readings that are hardly more than an update apart), or between two usual readings if
 * updates are long. A reading lacks the energy of one update at most. The end of a run is such a
 * moment, too: after n moments, its energy is the greatest of all in one of n + 1 runs. The times
 * for which probes wait for a move show how long an update is. Pure arithmetic.
 */
struct apapi_probe {
    uint64_t known_ns;  /* update period as stated or learned from usual readings [ns] */
    uint64_t update_ns; /* `known_ns`, or a shorter period that probes show [ns] */
    double most;        /* greatest energy of one `update_ns` [raw units]; 0: not seen yet */
    double updates;     /* number of updates in the increment that showed `most`, >= 1 */
    uint64_t increments;
    uint64_t next;       /* number of the next increment to look at; the distances grow */
    bool open;           /* the first reading of a probe was taken, and no other value since */
    double first;        /* value of that reading [raw units] */
    double latest;       /* value of the latest reading of a probe [raw units] */
    double recent_least; /* least energy of one update in the latest probe [raw units] ... */
    double recent_most;  /* ... and the greatest: its readings may take long */
    struct apapi_moment first_when;  /* time of the probe's first reading ... */
    struct apapi_moment latest_when; /* ... and of its latest one */
    uint64_t still_ns;               /* time for which this probe has seen no move [ns] */
    uint64_t longest_ns;             /* longest time that a probe waited for a move [ns] */
    uint64_t moves;                  /* number of moves that probes saw */
    double fit[APAPI_PROBE_PERIODS]; /* logarithm of the likelihood of all waits for a move, if the
                                        period is `known_ns` / sqrt(2)^i */
};

/** Forget what was seen. @param update_ns  update period [ns] */
void apapi_probe_init(struct apapi_probe *probe, uint64_t update_ns);

/** Take a better known update period. If it is quite another one, waits before are forgotten. */
void apapi_probe_learn(struct apapi_probe *probe, uint64_t update_ns);

/** Take an increment between two usual readings [raw units, ns]. */
void apapi_probe_note(struct apapi_probe *probe, double increment, uint64_t since_ns);

/** @return the update period, at least what the longest wait of a probe for a move shows [ns]. */
uint64_t apapi_probe_update_ns(const struct apapi_probe *probe);

/** Take the first reading of a probe. */
void apapi_probe_open(struct apapi_probe *probe, double value, struct apapi_moment when);

/**
 * Take the second reading of a probe; without a first one nothing happens. If it shows the same
 * value, a further reading may follow.
 * @param most  greatest plausible increment [raw units]
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
    APAPI_OP1_AVG_SAMPLE_MUL_DIFF_TIME /* mean of two value0 x time: energy from power, trapezoid */
};

/** Minimum, maximum, time-weighted mean and sum of a stream of values. */
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
    bool has_last; /* `last0` is a value0; cleared when a reading is lost */
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

/** Add the first value0 of a gauge: it has no interval, but is the predecessor of the next one. */
void apapi_values_first(struct apapi_values *values, double value0);

/** Fill in the numbers of `result`, divided by result->factor; all NaN if there are no values. */
void apapi_value_result(const struct apapi_value_stats *stats, struct apapi_value_result *result);

/** The result of looks at a counter after its last reading. */
enum apapi_life {
    APAPI_LIFE_UNKNOWN,
    APAPI_LIFE_DOUBTED, /* the first look found no move for an update: another look decides */
    APAPI_LIFE_ENDED,   /* the second look found no move either: the counter stands still */
    APAPI_LIFE_SEEN     /* a look found a move: the counter goes on */
};

/**
 * Everything that is kept of one event while sampling. Pure arithmetic, no allocation. The members
 * that each reading of a counter changes are next to each other.
 */
struct apapi_meter {
    const struct apapi_event *event;
    uint64_t interval_ns;
    bool coarse;       /* shown figures must not reveal the moment of a reading that is not shown */
    uint64_t dense_ns; /* beginning of the latest reading that is not shown [ns]; 0: none */
    double value; /* of the latest reading: a gauge's value or a counter's increment; NaN: none */
    uint64_t value_ns; /* time in which `value` was counted [ns]; 0: not known */
    uint64_t known_ns; /* time of the latest shown reading with new information, which an energy
                          counter without a move does not give [ns]; 0: none yet */
    int last_error;    /* errno of the latest failed reading; 0: none */
    struct apapi_unshown {
        double quantity; /* [raw units], of a gauge [value x s] */
        uint64_t since_ns;
        bool broken;                     /* a part of the quantity is lost */
    } unshown;                           /* what was added since the latest shown reading */
    struct apapi_counter counter;        /* accumulating events */
    struct apapi_rate rate;              /* of the counter */
    struct apapi_probe probe;            /* of a counter of energy */
    enum apapi_life life;                /* of a counter, after its last reading */
    struct apapi_values values;          /* as defined by the original APAPI */
    struct apapi_histogram *histogram;   /* of power; NULL: no percentiles */
    struct apapi_gauge gauge;            /* events that do not accumulate */
    struct apapi_value_result wanted[2]; /* the values that the event's definition selects */
};

/** The meaning of a meter's reading for its domain. */
enum apapi_meter_step {
    APAPI_METER_KNOWN,   /* everything up to this reading is known; the energy is the new part */
    APAPI_METER_WAITING, /* failed or doubted: a later reading may add the missing energy */
    APAPI_METER_BROKEN   /* the first reading, or energy before the reading is lost */
};

/**
 * @param interval_ns between two readings [ns]; the event must outlive the meter
 * @param histogram borrowed, for energy and power only; NULL: no percentiles
 */
void apapi_meter_init(struct apapi_meter *meter, const struct apapi_event *event,
                      uint64_t interval_ns, struct apapi_histogram *histogram);

/** Forget everything except the settings. */
void apapi_meter_restart(struct apapi_meter *meter);

/**
 * Take a reading.
 * @param energy_j  result: energy since the last known reading [J]; 0 if none. NULL: the reading is
 *                  not shown; it is for the sums and the uncertainty only
 */
enum apapi_meter_step apapi_meter_add(struct apapi_meter *meter,
                                      const struct apapi_reading *reading, struct apapi_moment when,
                                      double *energy_j);

/** At the end of a run, show what was added since the latest shown reading. */
void apapi_meter_show_rest(struct apapi_meter *meter);

/**
 * Take one of the two readings of a probe (see struct apapi_probe), which is for the uncertainty
 * only.
 * @param second  the second reading, hardly more than an update of the counter after the first
 */
void apapi_meter_probe(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when, bool second);

/** @return whether the source states the update period, or the counter's moves have shown it. */
static inline bool apapi_meter_shows_update(const struct apapi_meter *meter)
{
    return meter->counter.update.learned || meter->counter.update.stated_ns;
}

/** @return whether the update period is stated, or moves or enough probes have shown it. */
bool apapi_meter_knows_update(const struct apapi_meter *meter);

/** @return the update period, at least as long as the counter was seen to stand still [ns]. */
uint64_t apapi_meter_longest_update_ns(const struct apapi_meter *meter);

/** The last reading of a counter [raw units, ns]. */
struct apapi_last {
    double raw, increment;                      /* increment: that of the last move */
    uint64_t begin_ns, at_ns, moved_ns, ran_ns; /* as in struct apapi_counter_point */
    bool good;                                  /* it exists, and no later reading is doubted */
};

struct apapi_last apapi_meter_last(const struct apapi_meter *meter);

/**
 * @return how long after its last reading to look at a counter once more, to see whether it still
 *         moves [ns]; 0: a look would not show that
 */
uint64_t apapi_meter_check_ns(const struct apapi_meter *meter);

/** Take the reading of such a look, which is not counted. @return whether to look a second time. */
bool apapi_meter_check(struct apapi_meter *meter, const struct apapi_reading *reading,
                       struct apapi_moment when);

/** @return whether the gauge of a device that is on has never shown more than 0 W. */
bool apapi_gauge_is_dead(const struct apapi_meter *meter);

/** @return the total so far in the event's unit, of a power gauge [J]; NaN: not known. */
double apapi_meter_total(const struct apapi_meter *meter);

/** @return a gauge's latest value, or a counter's latest rate [W or unit/s]; NaN: not known. */
double apapi_meter_rate(const struct apapi_meter *meter);

/* The result of a meter in a run, and its uncertainty: result.c. */

/** The time in which a meter should have been read [ns]. */
struct apapi_span {
    uint64_t late_ns;    /* time before the first reading */
    uint64_t elapsed_ns; /* time from the first to the last reading */
    uint64_t end_ns;     /* end of the run, on the readings' clock; 0: the last reading */
};

/** Fill in the result, after the last reading. */
void apapi_meter_finish(struct apapi_meter *meter, const struct apapi_span *span,
                        struct apapi_event_result *result);

/** @return the uncertainty of the energy if the run ended now [J]; NaN: no energy is known. */
double apapi_meter_uncertainty_j(const struct apapi_meter *meter, const struct apapi_span *span);

/** Add the counts of another event or measurement; `samples` becomes the greater one. */
void incidents_add(struct apapi_incidents *sum, const struct apapi_incidents *one);

#endif
