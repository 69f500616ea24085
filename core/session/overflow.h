/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_OVERFLOW_H
#define SESSION_OVERFLOW_H
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/overflow.h"
#include "limit/evaluate.h"
#include "session/component.h"
#include "session/schedule.h"

/*
 * The thresholds of a session. Any thread sets them, the thread that reads a component finds those
 * that the reading has crossed, and a separate thread calls the handlers. In simulated time there
 * is no such thread: the functions that wait call the handlers.
 */

struct overflow_cpu;

/** The event or domain of a threshold. */
struct overflow_target {
    enum overflow_subject { OVERFLOW_EVENT, OVERFLOW_DOMAIN } subject;
    bool counts;      /* totals, not levels */
    size_t component; /* OVERFLOW_EVENT: index in the session's list */
    size_t index;     /* index in the component's events, or the domain; NONE: the node */
};

/** Thresholds that get the same values: most readings need one comparison for all of them. */
struct overflow_watch {
    struct limit_watch limits; /* no limits: the watch is free */
    struct overflow_target target;
    bool begun;       /* a value has come: thresholds that are set later get another watch */
    uint64_t windows; /* windows of the meter's rate up to the latest reading */
    uint64_t end_ns;  /* end of the latest window */
};

/** A threshold. */
struct overflow_slot {
    enum overflow_state {
        OVERFLOW_FREE,
        OVERFLOW_SET,
        OVERFLOW_LEAVING /* removed, but its handler has not been told all crossings */
    } state;
    struct overflow_target target;
    struct overflow_watch *watch; /* NULL: it gets no values */
    struct limit_state limit;
    struct apapi_overflow_crossing news; /* crossings still to be told; `count` 0: none */
    struct overflow_cpu *cpu;            /* PAPI counts this event; NULL: the session measures */
    struct apapi_overflow what;          /* its settings */
    char event[APAPI_NAME_SIZE];
    char unit[APAPI_UNIT_SIZE + 2]; /* of its values; "": not known */
    enum apapi_kind kind;           /* of the event, as is `accumulates`; a domain has energy */
    bool accumulates;
    double step; /* of its coarsest counter: the least possible threshold */
};

/** Energy and power of a domain, or of the node. */
struct overflow_sum {
    bool known;
    uint64_t at_ns, before_ns; /* time of the latest total, and of the total before */
    long double total_j;
    uint64_t windows;           /* powers so far */
    bool gap;                   /* a gap lies between the latest power and the power before */
    uint64_t end_ns, length_ns; /* end and length of the latest power's window */
    double power_w;
};

struct overflow_domain {
    struct overflow_sum sum;
    long double offset_j;  /* energy from the components that fed the domain before this one */
    uint64_t rate_windows; /* windows of its component's rate up to the latest reading */
    double part_j;         /* power x time since the latest power of the node [W ns] */
    uint64_t part_ns;
    bool part_gap;
};

/** The thresholds of a session. The mutex protects all but `active`. */
struct overflows {
    atomic_uint active; /* thresholds that readings may cross; 0: readings are not looked at */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* a handler was called, or the thread has ended */
    sem_t semaphore;        /* there are crossings to tell; PAPI's signals post it, too */
    struct overflow_slot slots[APAPI_OVERFLOW_MAX];
    struct overflow_watch watches[APAPI_OVERFLOW_MAX];
    size_t watch_count; /* watches that have been in use */
    struct feed feeds[APAPI_DOMAINS];
    struct overflow_domain domains[APAPI_DOMAINS]; /* the first one, NONE, is the node */
    struct session_clock *clock;
    void (*hold)(void *owner, bool more); /* called when the thread starts (`more`) or ends */
    void *owner;
    pthread_t thread; /* calls the handlers */
    bool started, ending, ended;
    int telling; /* the threshold whose handler runs; -1: none */
};

void overflow_init(struct overflows *overflows, struct session_clock *clock,
                   void (*hold)(void *owner, bool more), void *owner);
void overflow_clear(struct overflows *overflows);

/* --- readings: no call allocates, logs, or waits for a handler -------------------------------- */

/** Begin a run: nothing is known or crossed yet. */
void overflow_restart(struct overflows *overflows);

/** With the mutex: forget the sums of domains and the node. */
void overflow_forget_sums(struct overflows *overflows);

/**
 * With the mutex of the overflows and the mutex of the component's worker: add the component's
 * latest reading to the sums.
 * @param index  of the component in the session's list
 */
void overflow_see(struct overflows *overflows, const struct component *component, size_t index);

/** Find what the component's new reading has crossed; its worker's mutex is held. */
void overflow_evaluate(struct overflows *overflows, const struct component *component,
                       size_t index);

/* --- handlers --------------------------------------------------------------------------------- */

/** Wait until all crossings are told. In a handler, do not wait. */
void overflow_flush(struct overflows *overflows, uint64_t patience_ns);

/** Call no more handlers, and wait until their thread ends; if it hangs, it is left to itself. */
void overflow_end(struct overflows *overflows);

#endif
