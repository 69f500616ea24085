/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_MEASUREMENT_H
#define APAPI_MEASUREMENT_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "apapi/event.h"
#include "apapi/interval.h"
#include "apapi/timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What was measured between a start and a stop. Plain data; a number that is not known is NaN,
 * never 0.
 */

/** A stream of values in one unit. Power for energy counters, the value itself for gauges. */
struct apapi_summary {
    double min;
    double mean; /* time-weighted over the covered time */
    double max;
    double p95; /* in 95 % of the covered time it was not above this; energy and power only */
};

/** Distances between one component's readings. */
struct apapi_period {
    uint64_t count;   /* of distances */
    double mean_s;    /* [s]; NaN without any */
    double sd_s;      /* standard deviation [s]; NaN with fewer than two */
    double longest_s; /* the longest of them [s]; NaN without any */
};

/** Which statistics of a value are of interest. */
enum apapi_shown { APAPI_SHOW_MIN = 1, APAPI_SHOW_MAX = 2, APAPI_SHOW_AVG = 4, APAPI_SHOW_ACC = 8 };

/** Statistics of value0 or value1, as the event's definition wants them, in `unit`. */
struct apapi_value_result {
    unsigned shown; /* enum apapi_shown; 0: nothing of this value */
    char type[32];  /* "energy", "power", ... */
    char unit[APAPI_UNIT_SIZE];
    double factor; /* what the definition divides by */
    double last;   /* the newest value; NaN before the second reading, as all that follow */
    double min;
    double max;
    double avg; /* time-weighted */
    double acc; /* sum */
};

/** What became of the readings of one event, or of several added up. */
struct apapi_incidents {
    uint64_t samples; /* intervals that count: good readings after the first */
    uint64_t failed;  /* readings that gave an error */
    uint64_t wraps;   /* times the counter went through its end */
    uint64_t resets;  /* times it began anew; nothing was counted across it */
    uint64_t refused; /* readings that cannot be true */
    uint64_t gaps;    /* intervals so long that whole wraps may be missing in them */
    uint64_t stalls;  /* times an energy counter stood still, for 100 of its updates or more */
};

/** One event's result. */
struct apapi_event_result {
    struct apapi_event event;
    uint64_t raw_total;           /* sum of increments in raw units (counters) */
    double total;                 /* the same in event.unit; J for power gauges; NaN: unknown */
    struct apapi_summary summary; /* W for energy and power, else event.unit (per s for counters) */
    uint64_t covered_ns;          /* time between good readings [ns] */
    double uncertainty_j;         /* of the energy [J]; NaN: no energy, or unknown */
    struct apapi_incidents incidents;
    bool stuck;                          /* the counter never moved: `total` is NaN */
    struct apapi_value_result values[2]; /* value0 and value1 */
};

/** One component's result. */
struct apapi_component_result {
    char name[APAPI_COMPONENT_SIZE];
    bool measured;
    char source[64];      /* what was read, for example "sysfs powercap"; "" if not measured */
    char reason[256];     /* why it was not measured, or not to the end; "" if it was */
    uint64_t interval_ns; /* between two readings [ns] */
    uint64_t missed;      /* ticks skipped because the sampler was late */
    uint64_t outages;     /* times no event could be read; it was tried less and less often */
    uint64_t outage_ns;   /* length of them all, between good readings [ns] */
    struct apapi_period period;
    bool user_rules; /* the user's list chose its events, or his definitions made their values */
    size_t event_count;
    struct apapi_event_result *events; /* owned by the measurement */
};

/** One domain's result on one node: all its meters added up. */
struct apapi_domain_result {
    bool measured;
    double energy_j;                /* [J]; NaN: unknown */
    double uncertainty_j;           /* [J]; NaN: unknown */
    struct apapi_summary power_w;   /* of all meters together [W] */
    struct apapi_timeline timeline; /* of the measurement's time, from its start */
};

/** A domain that was not measured. */
#define APAPI_DOMAIN_UNMEASURED                                                                    \
    ((struct apapi_domain_result){.energy_j = NAN,                                                 \
                                  .uncertainty_j = NAN,                                            \
                                  .power_w = {.min = NAN, .mean = NAN, .max = NAN, .p95 = NAN}})

/** All that a session has measured. */
struct apapi_measurement {
    int64_t start_unix_ns; /* the first reading, UTC since 1970 [ns] */
    uint64_t elapsed_ns;   /* from the first to the last reading, monotonic [ns] */
    uint64_t late_ns;      /* from the request to start to the first reading [ns] */
    double covered;        /* share of late + elapsed between good readings, 0..1; NaN: nothing */
    uint64_t cpu_ns;       /* CPU time of the sampling threads [ns] */
    size_t component_count;
    struct apapi_component_result *components; /* owned by the measurement */
    struct apapi_domain_result domains[APAPI_DOMAINS];
};

/** @return energy of the domains that add up [J]; NaN if none of them was measured. */
APAPI_API double apapi_measurement_total_j(const struct apapi_measurement *m);

/** @return mean power of the domains that add up [W]; NaN if none of them was measured. */
APAPI_API double apapi_measurement_total_w(const struct apapi_measurement *m);

/**
 * @param whole_ns     the time in which the event should have been read [ns]
 * @param interval_ns  between two readings [ns]
 * @return uncertainty of the event's energy [J]; NaN: no energy, estimated, or not known.
 */
APAPI_API double apapi_event_uncertainty_j(const struct apapi_event_result *result,
                                           uint64_t whole_ns, uint64_t interval_ns);

/** @return all incidents of all events added up; samples: the most of any event. */
APAPI_API struct apapi_incidents apapi_measurement_incidents(const struct apapi_measurement *m);

/** Free what `m` owns and empty it. NULL is allowed. errno is preserved. */
APAPI_API void apapi_measurement_clear(struct apapi_measurement *m);

#ifdef __cplusplus
}
#endif
#endif
