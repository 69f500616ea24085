/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

static inline uint64_t lesser_count(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t greater_count(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/** Time of a reading [ns]: its value is of some instant from `begin_ns` to `end_ns`. */
struct apapi_moment {
    uint64_t begin_ns;
    uint64_t end_ns;
};

/** A reading without duration. */
static inline struct apapi_moment moment_at(uint64_t now_ns)
{
    return (struct apapi_moment){now_ns, now_ns};
}

/*
 * The update period of a counter: the time between two moves. The period is what the source states
 * until readings show another one. Readings that find no move show a longer period. Many readings
 * that all find a move, in less time than the stated period, show a shorter one. A single
 * standstill shows nothing. Pure arithmetic.
 */
struct apapi_update {
    uint64_t stated_ns;  /* period that the source states [ns]; 0: none */
    uint64_t period_ns;  /* period as known so far [ns]; never 0 */
    bool learned;        /* `period_ns` comes from the moves */
    bool moved;          /* there was a move, so that the next one ends a gap */
    uint64_t gaps;       /* number of times between two moves */
    uint64_t long_gaps;  /* gaps in which readings found no move for `period_ns` or longer */
    uint64_t sum_ns;     /* length of all gaps [ns] */
    uint64_t longest_ns; /* longest gap with a reading that found no move, but not a standstill; at
                            most twice the time for which readings found none [ns] */
};

/*
 * A power is taken over half an interval at least, and over at least so many updates: then it
 * hardly depends on where in an update the readings lie.
 */
#define APAPI_WINDOW_UPDATES 20

/** @param update_ns  0: not known. @return the shortest time that has a power [ns] */
static inline uint64_t apapi_window_ns(uint64_t interval_ns, uint64_t update_ns)
{
    uint64_t updates_ns = APAPI_WINDOW_UPDATES * update_ns;

    return updates_ns > interval_ns / 2 ? updates_ns : interval_ns / 2;
}

/*
 * The 64-bit total of one hardware counter. Pure arithmetic: no clock, no allocation. Raw values
 * that are doubles are counted in small steps. Quantities below are in such counts.
 *
 * A reading is accepted if the increment since the last accepted one is plausible for the time
 * between them. Otherwise it is only remembered (doubted). If the next reading continues from the
 * last accepted one, the doubted reading was wrong (refused). If the next one continues from the
 * doubted reading, either the counter had stood still and caught up (everything is counted), or the
 * counter restarted (reset) and nothing is counted across the break.
 *
 * A reading has a beginning and an end. Plausibility uses the widest distance of two readings. The
 * covered time begins with the end of a first reading. It ends with the beginning of the last
 * reading before a break, or of the last one at which the counter was known to run. A counter that
 * stands still from its first reading on is covered from its first move on, because the energy of
 * that move may be older than the reading.
 */
struct apapi_counter {
    bool of_doubles;    /* the raw values are doubles */
    double unit;        /* one count [raw units]: 1; for doubles a small step */
    bool is_signed;     /* counts are int64_t */
    uint64_t range_max; /* greatest count; 0: the counter never wraps */
    double max_per_ns;  /* greatest plausible increment per ns [counts]; INFINITY: any */
    uint64_t hide_ns;   /* a longer interval may hide whole wraps; UINT64_MAX: none */
    bool rests;         /* the counter may stand still for any time */
    bool moved;         /* the counter has moved since the last break */
    uint64_t unit_ns;   /* time in which the least plausible power adds one count [ns] */
    uint64_t stall_ns;  /* a longer standstill is an incident; UINT64_MAX: never */
    double slack;       /* allowance for one interval: one update of the counter */
    struct apapi_update update;
    uint64_t total;      /* sum of all accepted increments [counts] */
    uint64_t covered_ns; /* sum of the intervals of these increments [ns]; exact when finished */
    uint64_t segment_ns; /* end of the first reading since the last break */
    double hidden;       /* what unseen whole wraps may have counted, in all gaps [counts] */
    uint64_t to_wrap;    /* the most that was counted from a reading to the end of the range: too
                            much, if the counter restarted instead of wrapping [counts] */
    uint64_t low_ns; /* longest interval that began at a value so low that it may hide a reset */
    struct apapi_incidents incidents;
    double guard_raw; /* what the hardware's counter can hold [counts]; 0: no limit */
    bool reopened;    /* set when the source was opened again after an outage: the counter continues
                         only if the next reading shows that for certain. Otherwise the counter
                         restarted, and its increment during the outage is unknown */
    bool stopped;     /* set if the counter stands still after its last reading */
    struct apapi_counter_point {
        bool valid;
        uint64_t raw;
        uint64_t begin_ns;
        uint64_t at_ns;    /* end of the reading */
        uint64_t moved_ns; /* last move: the counter may have stood still since */
        uint64_t ran_ns; /* start of the reading before the last move: the counter ran until then */
        uint64_t increment; /* of the last move [counts] */
    } last, doubted;
};

enum apapi_count {
    APAPI_COUNT_BASELINE, /* the first reading, or the first of a segment: nothing is counted */
    APAPI_COUNT_ADDED,    /* `increment` was added for the time `since_ns` */
    APAPI_COUNT_DOUBTED,  /* implausible: the next reading decides */
    APAPI_COUNT_RESET     /* as ADDED, but the counter restarted in between */
};

/** The meaning of one reading. */
struct apapi_increment {
    uint64_t raw;      /* [counts] */
    uint64_t since_ns; /* length of the interval [ns] */
    bool wrapped;      /* the counter wrapped around */
};

/** @return the greatest plausible power of a meter, at most a node's if the meter wraps [W]. */
double apapi_counter_most_w(const struct apapi_event *event);

/** Prepare a counter. @param max_w plausible power [W] for energy counters, INFINITY for others. */
void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w);

/** @return whether a counter never rests: every device draws power. An estimate may rest. */
static inline bool apapi_counter_never_rests(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY && !event->estimated;
}

/** @return whether the counter stood still at its last reading for longer than an intact one. */
bool apapi_counter_stands_still(const struct apapi_counter *counter);

/** Forget all readings and totals, but keep the settings. */
void apapi_counter_restart(struct apapi_counter *counter);

/** @return whether a raw value can be a count; infinity, for example, cannot. `count`: result. */
bool apapi_counter_counts(const struct apapi_counter *counter, uint64_t raw, uint64_t *count);

/** @return a count in raw units. */
static inline double apapi_counter_value(const struct apapi_counter *counter, uint64_t count)
{
    return (counter->is_signed ? (double)(int64_t)count : (double)count) * counter->unit;
}

/**
 * Take a reading. A value that cannot be a count is refused.
 * @param increment  set for APAPI_COUNT_ADDED and APAPI_COUNT_RESET
 */
enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, struct apapi_increment *increment);

/** Call it after the last reading. A reading that is still doubted counts as refused. */
void apapi_counter_finish(struct apapi_counter *counter);

#endif
