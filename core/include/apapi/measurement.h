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

APAPI_BEGIN_C

/*
 * The figures between a start and a stop. Plain data. A number that is not known is NaN,
 * never 0. All functions here may be called from any thread.
 */

#define APAPI_BOOT_SIZE 33 /* size of a boot's ID: 32 hexadecimal digits and a NUL [bytes] */

/** Statistics of the power of an energy counter, or the value of a gauge. All in the same unit. */
struct apapi_summary {
    double min;
    double mean; /* time-weighted over the covered time */
    double max;
    double p95; /* 95th percentile over the covered time; energy and power only */
};

/** Time between one component's readings. */
struct apapi_period {
    uint64_t count;   /* number of periods */
    double mean_s;    /* [s]; NaN: no period */
    double sd_s;      /* standard deviation [s]; NaN: fewer than two periods */
    double longest_s; /* [s]; NaN: no period */
};

/** Bits of the statistics of value0 or value1. */
enum apapi_shown { APAPI_SHOW_MIN = 1, APAPI_SHOW_MAX = 2, APAPI_SHOW_AVG = 4, APAPI_SHOW_ACC = 8 };

/** value0 or value1 of an event, as its definition asks for it. Numbers are in `unit`. */
struct apapi_value_result {
    unsigned shown; /* enum apapi_shown; 0: the definition does not ask for this value */
    char type[32];  /* "energy", "power", ... */
    char unit[APAPI_UNIT_SIZE];
    double factor; /* the definition's divisor */
    double last;   /* the latest value. This and the next members: NaN before the second reading */
    double min;
    double max;
    double avg; /* time-weighted */
    double acc; /* sum */
};

/** Good and bad readings of one event, or of several events added up. */
struct apapi_incidents {
    uint64_t samples; /* good readings after the first one */
    uint64_t failed;  /* readings that gave an error */
    uint64_t wraps;   /* times the counter passed the end of its range */
    uint64_t resets;  /* times the counter restarted; nothing is counted across a restart */
    uint64_t refused; /* readings that are not counted, as the next one showed them to be wrong */
    uint64_t gaps;    /* intervals so long that whole wraps may be missing */
    uint64_t stalls;  /* times an energy counter stood still for 100 of its updates or more */
    uint64_t rough;   /* 1: the energy may be wrong by more than its uncertainty and 1 %, because
                         readings are too few, or do not show the power of a part of the time */
};

/** Result of one event. */
struct apapi_event_result {
    struct apapi_event event;
    uint64_t raw_total;           /* sum of increments of a counter [raw units] */
    double total;                 /* `raw_total` in event.unit; power gauges [J]; NaN: not known */
    struct apapi_summary summary; /* energy and power [W]; other counters [event.unit/s]; other
                                     gauges [event.unit] */
    uint64_t covered_ns;          /* time between good readings [ns] */
    double uncertainty_j;         /* of the energy [J]; NaN: no energy, or not known */
    struct apapi_incidents incidents;
    bool stuck; /* the counter never moved, or the gauge never showed a power: `total` is NaN */
    bool still; /* the counter never moved, in a time that is too short to call it stuck */
    struct apapi_value_result values[2]; /* value0 and value1 */
};

/** Result of one component. */
struct apapi_component_result {
    char name[APAPI_COMPONENT_SIZE];
    bool measured;
    char source[64];      /* what was read, for example "sysfs powercap"; "": not measured */
    char reason[256];     /* why it was not measured, or not to the end; "": it was */
    uint64_t interval_ns; /* time between two readings [ns] */
    uint64_t missed;      /* readings skipped because the sampler was late */
    uint64_t outages;     /* times no event could be read; retries become rarer then */
    uint64_t outage_ns;   /* length of all outages, between good readings [ns] */
    struct apapi_period period;
    bool user_rules; /* the user's list chose its events, or the user's definitions apply to them */
    size_t event_count;
    struct apapi_event_result *events; /* owned by the measurement */
};

/** Result of one domain on one node: all its meters added up. */
struct apapi_domain_result {
    bool measured;
    double energy_j;                /* [J]; NaN: not known */
    double uncertainty_j;           /* [J]; NaN: not known */
    double covered;                 /* part of late_ns + elapsed_ns that energy_j covers, 0..1: that
                                       of the meter that covers least; NaN, 0: not known */
    double rest_j;                  /* estimated energy of the uncovered part, at the mean power; is
                                       not in energy_j [J]; NaN, 0: not asked for, or all covered */
    uint64_t update_ns;             /* longest update period of its meters [ns]; 0: not known, as
                                       in a record that was read */
    struct apapi_summary power_w;   /* of all meters together [W] */
    struct apapi_timeline timeline; /* from the start of the measurement */
};

/** A domain that was not measured. Not for C++. */
#define APAPI_DOMAIN_UNMEASURED                                                                    \
    ((struct apapi_domain_result){.energy_j = NAN,                                                 \
                                  .uncertainty_j = NAN,                                            \
                                  .covered = NAN,                                                  \
                                  .rest_j = NAN,                                                   \
                                  .power_w = {.min = NAN, .mean = NAN, .max = NAN, .p95 = NAN}})

/** Everything that a session has measured. */
struct apapi_measurement {
    int64_t start_unix_ns;      /* of the first reading, UTC since 1970 [ns] */
    char boot[APAPI_BOOT_SIZE]; /* ID of the boot from which monotonic_ns counts; "": not known */
    uint64_t monotonic_ns; /* of the first reading, CLOCK_MONOTONIC [ns]; has no meaning if `boot`
                              is "" */
    uint64_t elapsed_ns;   /* from the first to the last reading, CLOCK_MONOTONIC [ns] */
    uint64_t late_ns;      /* from the requested start to the first reading [ns] */
    double covered;        /* part of late_ns + elapsed_ns between good readings, 0..1; NaN: none */
    uint32_t unknown_domains; /* bit 1 << enum apapi_domain: the domain has meters, and its energy
                                 is not known */
    uint64_t cpu_ns;          /* CPU time of the sampling threads [ns] */
    struct apapi_incidents incidents; /* of all meters of the measured components, also of those
                                         that an event list hides */
    size_t component_count;
    struct apapi_component_result *components;         /* owned by the measurement */
    struct apapi_domain_result domains[APAPI_DOMAINS]; /* by enum apapi_domain */
};

/** @return energy of the domains that add up [J]; NaN if none was measured. Does not allocate. */
APAPI_API double apapi_measurement_total_j(const struct apapi_measurement *m);

/** @return mean power of the domains that add up [W]; NaN if none was measured. Does not allocate.
 */
APAPI_API double apapi_measurement_total_w(const struct apapi_measurement *m);

/**
 * @return the incidents of all meters added up, also of those that an event list hides; `samples`
 * is the most of any meter
 */
APAPI_API struct apapi_incidents apapi_measurement_incidents(const struct apapi_measurement *m);

/** Free what `m` owns, and set it to zeros. NULL is allowed. errno is preserved. */
APAPI_API void apapi_measurement_clear(struct apapi_measurement *m);

APAPI_END_C
#endif
