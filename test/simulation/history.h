/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_HISTORY_H
#define SIMULATION_HISTORY_H
#include <stdbool.h>

#include "apapi/event.h"
#include "apapi/interval.h"
#include "simulation/power.h"

#define HISTORY_COMPONENTS 4
#define HISTORY_EVENTS 3
#define HISTORY_SOCKETS 2
#define HISTORY_FAULTS 3
#define HISTORY_ACTIONS 10
#define HISTORY_STOPS 3
#define HISTORY_PARTS 12 /* of one power */

/*
 * A simulated course of events. Times are counted from the beginning of the history.
 */

/** A meter of one part of the node: a counter of energy or a gauge of power. */
struct history_meter {
    enum apapi_domain domain;
    unsigned socket;
    bool gauge;
    bool doubles;       /* a counter whose values are floating-point numbers */
    double scale;       /* J */
    uint64_t range_max; /* greatest raw value; 0: it never wraps */
    double offset_j;    /* energy that it has counted before the history */
    uint64_t update_ns; /* time from one update of the meter to the next */
    uint64_t phase_ns;
    uint64_t stated_ns; /* update_ns as the source states it; 0: not stated */
    double most_w;      /* greatest power as the source states it [W]; 0: not stated */
};

enum history_fault_kind {
    FAULT_FAIL,       /* readings fail */
    FAULT_FAIL_ONE,   /* readings of one event fail */
    FAULT_HANG,       /* calls do not return until the end of the fault */
    FAULT_VANISH,     /* what is open is dead; it can be opened again at the end of the fault */
    FAULT_END_THREAD, /* the first reading in this time ends its thread */
    FAULT_RESET,      /* at from_ns, all counters begin again at 0 */
    FAULT_LEAP,       /* at from_ns, one counter leaps ahead by more than any power can explain */
    FAULT_FREEZE,     /* one counter stands still, then shows what it has missed */
    FAULT_ABSURD,     /* one in three readings of one counter is absurd */
    FAULT_LATE,       /* readings take long after their values were taken */
    FAULT_EARLY,      /* readings take long before their values are taken */
    FAULTS
};

struct history_fault {
    enum history_fault_kind kind;
    uint64_t from_ns, to_ns;
    size_t event;
    uint64_t length_ns; /* FAULT_LATE, FAULT_EARLY: the longest delay */
    double leap_s;      /* FAULT_LEAP: time that the greatest plausible power needs for it */
};

struct history_component {
    bool slow, own_worker;
    uint64_t interval_ns;
    uint64_t open_ns; /* how long opening takes */
    uint64_t read_ns; /* about how long a reading takes */
    size_t event_count;
    struct history_meter meters[HISTORY_EVENTS];
    size_t fault_count;
    struct history_fault faults[HISTORY_FAULTS];
};

enum history_order { ORDER_START, ORDER_SNAPSHOT, ORDER_STOP };

struct history_action {
    enum history_order order;
    uint64_t at_ns; /* not earlier than this */
};

struct history {
    uint64_t seed;
    size_t component_count;
    struct history_component components[HISTORY_COMPONENTS];
    struct power powers[APAPI_DOMAINS][HISTORY_SOCKETS];
    struct power_part parts[APAPI_DOMAINS][HISTORY_SOCKETS][HISTORY_PARTS]; /* parts of `powers` */
    uint64_t min_interval_ns, patience_ns;
    uint64_t late_once_in, latest_ns; /* one wake-up in so many is late, by latest_ns at most */
    size_t stop_count;                /* times in which the process stands still */
    struct {
        uint64_t from_ns, to_ns;
    } stops[HISTORY_STOPS];
    uint32_t refused_threads; /* bit i: thread i, counted from 0, cannot be started */
    size_t action_count;
    struct history_action actions[HISTORY_ACTIONS];
    uint64_t end_ns;
};

/** @return a fault of this kind at this time; NULL: none. */
const struct history_fault *history_fault_at(const struct history_component *component,
                                             enum history_fault_kind kind, uint64_t now_ns);

/** @return whether the component has a fault of this kind at any time. */
bool history_has(const struct history_component *component, enum history_fault_kind kind);

#endif
