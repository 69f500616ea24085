/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MEASURE_COUNTER_H
#define MEASURE_COUNTER_H
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"

/** Time of a reading [ns]: its value belongs to some instant from `begin_ns` to `end_ns`. */
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
 * The update period of a counter: how often it moves by itself. It is what the source states until
 * readings show another one. Readings that find the counter where it was show a longer period;
 * many that all find it moved, in less time than is stated, show a shorter one. A single standstill
 * shows nothing. Pure arithmetic.
 */
struct apapi_update {
    uint64_t stated_ns;  /* by the source; 0: it does not say */
    uint64_t period_ns;  /* what is known so far; never 0 */
    bool learned;        /* `period_ns` comes from the moves */
    bool moved;          /* there was a move, so that the next one ends a gap */
    uint64_t gaps;       /* between two moves */
    uint64_t long_gaps;  /* in which a reading found no move */
    uint64_t sum_ns;     /* of all gaps */
    uint64_t longest_ns; /* that readings found it without a move, but no standstill; at most twice
                            that */
};

/*
 * A power is taken over half an interval at least, and over so many updates that it does not show
 * where in an update the readings happen to lie.
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
 * doubted reading, either the counter had stood still and has caught up (everything is counted), or
 * it restarted (reset) and nothing is counted across the break.
 *
 * A reading has a beginning and an end. Plausibility uses the widest distance of two readings. The
 * covered time begins with the end of a first reading. It ends with the beginning of the last
 * reading before a break, or of the last one in which the counter was known to run. A counter that
 * stands still from its first reading on is covered from its first move: what it shows then may be
 * older than the reading.
 */
struct apapi_counter {
    bool of_doubles;    /* the raw values are doubles */
    double unit;        /* one count [raw units]: 1, of doubles a small step */
    bool is_signed;     /* counts are int64_t */
    uint64_t range_max; /* greatest count; 0: the counter never wraps */
    double max_per_ns;  /* greatest plausible increment per ns [counts]; INFINITY: any */
    uint64_t hide_ns;   /* a longer interval may hide whole wraps; UINT64_MAX: none */
    bool rests;         /* it may stand still for any time */
    bool moved;         /* since the last break */
    uint64_t unit_ns;   /* in which the least power makes it move by one */
    uint64_t stall_ns;  /* a longer standstill is an incident; UINT64_MAX: never */
    double slack;       /* allowance for one interval: one update of the counter */
    struct apapi_update update;
    uint64_t total;      /* sum of all accepted increments [counts] */
    uint64_t covered_ns; /* sum of the intervals of these increments [ns]; exact when finished */
    uint64_t segment_ns; /* end of the first reading since the last break */
    double hidden;       /* what whole wraps may hide, in all gaps [counts] */
    uint64_t to_wrap;    /* the most that was counted from a reading to the end of the range: too
                            much, if the counter began again instead of wrapping [counts] */
    uint64_t low_ns;     /* longest interval that begins at so low a value that a reset may hide */
    struct apapi_incidents incidents;
    double guard_raw; /* what the hardware's counter can hold [counts]; 0: no limit */
    bool reopened;    /* set when the source was opened again after an outage: the counter continues
                         only if the next reading is certainly of the same counter. Otherwise it
                         restarted, and its increment during the outage is unknown */
    bool stopped;     /* set if it stands still after its last reading */
    struct apapi_counter_point {
        bool valid;
        uint64_t raw;
        uint64_t begin_ns;
        uint64_t at_ns;    /* end of that reading */
        uint64_t moved_ns; /* last change: the counter may have stood still since */
        uint64_t ran_ns; /* beginning of the reading before that: until then it was known to run */
        uint64_t increment; /* of the last move [counts] */
    } last, doubted;
};

enum apapi_count {
    APAPI_COUNT_BASELINE, /* a first reading, also of a new segment: nothing is counted */
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

/** @return the plausible power of a meter; one that wraps belongs to no more than a node [W]. */
double apapi_counter_most_w(const struct apapi_event *event);

/**
 * Prepare a counter. @param max_w plausible power [W] for energy counters, INFINITY for others.
 */
void apapi_counter_init(struct apapi_counter *counter, const struct apapi_event *event,
                        double max_w);

/** Every device draws power, so an energy meter never rests; an estimate may. */
static inline bool apapi_counter_never_rests(const struct apapi_event *event)
{
    return event->kind == APAPI_KIND_ENERGY && !event->estimated;
}

/** Forget all readings and totals, but keep the settings. */
void apapi_counter_restart(struct apapi_counter *counter);

/** @return whether a raw value can be a count. Infinity, for example, is none. */
bool apapi_counter_counts(const struct apapi_counter *counter, uint64_t raw, uint64_t *count);

/** @return a count [raw units] */
static inline double apapi_counter_value(const struct apapi_counter *counter, uint64_t count)
{
    return (counter->is_signed ? (double)(int64_t)count : (double)count) * counter->unit;
}

/**
 * Take a reading. One that is no count is refused.
 * @param increment  set for APAPI_COUNT_ADDED and APAPI_COUNT_RESET
 */
enum apapi_count apapi_counter_add(struct apapi_counter *counter, uint64_t raw,
                                   struct apapi_moment when, struct apapi_increment *increment);

/** Call it after the last reading. A reading that is still doubted counts as refused. */
void apapi_counter_finish(struct apapi_counter *counter);

#endif
