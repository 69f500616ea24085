/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_EVALUATE_H
#define SESSION_OVERFLOW_EVALUATE_H
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/event.h"
#include "limit/evaluate.h"
#include "session/component.h"
#include "session/schedule.h"

/* The crossings of a reading. No call allocates, logs, or waits for a handler. */

struct overflow_cpu;

enum overflow_subject { OVERFLOW_EVENT, OVERFLOW_DOMAIN, OVERFLOW_NODE, OVERFLOW_CPU };

/** Thresholds that get the same values, so that most readings look at these once. */
struct overflow_watch {
    uint64_t slots; /* bits of the thresholds; 0: free */
    enum overflow_subject subject;
    bool counts;      /* totals, not levels */
    bool begun;       /* a value has come: thresholds that are set later have their own watch */
    bool known;       /* the latest value is */
    size_t component; /* OVERFLOW_EVENT: of the session's list */
    size_t index;     /* of the component's events, or the domain */
    uint64_t windows; /* of its rate, at the latest reading */
    uint64_t end_ns;  /* of the latest one of these windows */
    long double next; /* a value below it crosses none of them */
    long double last; /* the latest value */
    uint64_t last_ns;
};

/** A threshold. */
struct overflow_slot {
    enum overflow_state {
        OVERFLOW_FREE,
        OVERFLOW_SET,
        OVERFLOW_LEAVING /* removed, and its handler has not been told all */
    } state;
    enum overflow_subject subject;
    struct limit_state limit;
    double scale;                        /* a value times this is in the event's unit */
    struct apapi_overflow_crossing news; /* that its handler was not told; `count` 0: none */
    uint64_t order;                      /* of the first of them, among those of all thresholds */
    struct overflow_cpu *cpu;            /* OVERFLOW_CPU */
    struct apapi_overflow what;          /* as it was set, without `unit` */
    char event[APAPI_NAME_SIZE];
    char unit[APAPI_UNIT_SIZE + 2]; /* of its values; "": not known */
};

/** Energy and power of a domain, or of the node. */
struct overflow_sum {
    bool known;
    uint64_t at_ns, before_ns; /* of the latest total, and of the one before */
    long double total_j;
    uint64_t windows;           /* powers so far */
    bool gap;                   /* between the latest power and the one before */
    uint64_t end_ns, length_ns; /* of the time of the latest power */
    double power_w;
};

struct overflow_domain {
    struct overflow_sum sum;
    long double offset_j;  /* what the components before the one that feeds it have measured */
    uint64_t rate_windows; /* of its component's rate, at the latest reading */
    double part_j;         /* since the latest power of the node */
    uint64_t part_ns;
    bool part_gap;
};

/** The thresholds of a session. The mutex protects all but `active`. */
struct overflows {
    atomic_uint active; /* thresholds; 0: readings are not looked at */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* something has been told */
    sem_t semaphore;        /* there is something to tell; signals raise it, too */
    struct overflow_slot slots[APAPI_OVERFLOW_MAX];
    struct overflow_watch watches[APAPI_OVERFLOW_MAX];
    struct feed feeds[APAPI_DOMAINS];
    struct overflow_domain domains[APAPI_DOMAINS];
    struct overflow_sum node;
    uint64_t order; /* crossings so far */
    struct session_clock *clock;
    pthread_t thread; /* calls the handlers */
    bool started, ending, ended;
    int telling; /* the threshold whose handler runs; -1: none */
};

void overflow_init(struct overflows *overflows, struct session_clock *clock);
void overflow_clear(struct overflows *overflows);

/** With the mutex: what has been removed is told, and its place is free. */
void overflow_free_slot(struct overflow_slot *slot);

/** With the mutex: a threshold is set, and gets values like those of `watch`. */
void overflow_watch(struct overflows *overflows, int number, const struct overflow_watch *watch);

/** With the mutex: it gets no values any more. */
void overflow_unwatch(struct overflows *overflows, int number);

/** A run begins: nothing is known or crossed yet. */
void overflow_restart(struct overflows *overflows);

/** With the mutex: forget the sums of domains and the node. */
void overflow_forget_sums(struct overflows *overflows);

/**
 * With the mutex of the overflows, and that of whoever reads the component: add the component's
 * latest reading to the sums.
 * @param index  of the component in the session's list
 */
void overflow_see(struct overflows *overflows, const struct component *component, size_t index);

/** The component has just been read; its worker's mutex is held. */
void overflow_evaluate(struct overflows *overflows, const struct component *component,
                       size_t index);

#endif
