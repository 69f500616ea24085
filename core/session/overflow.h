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
 * The thresholds of a session: any thread sets them, whoever reads a component finds what the
 * reading has crossed, and a thread of their own calls the handlers. In simulated time there is no
 * such thread: those who wait call them.
 */

struct overflow_cpu;

/** The event or domain of a threshold. */
struct overflow_target {
    enum overflow_subject { OVERFLOW_EVENT, OVERFLOW_DOMAIN } subject;
    bool counts;      /* totals, not levels */
    size_t component; /* OVERFLOW_EVENT: of the session's list */
    size_t index;     /* of the component's events, or the domain; NONE: the node */
};

/** Thresholds that get the same values, so that most readings look at these once. */
struct overflow_watch {
    struct limit_watch limits; /* none: it is free */
    struct overflow_target target;
    bool begun;       /* a value has come: thresholds that are set later have their own watch */
    uint64_t windows; /* of its rate, at the latest reading */
    uint64_t end_ns;  /* of the latest one of these windows */
};

/** A threshold. */
struct overflow_slot {
    enum overflow_state {
        OVERFLOW_FREE,
        OVERFLOW_SET,
        OVERFLOW_LEAVING /* removed, and its handler has not been told all */
    } state;
    struct overflow_target target;
    struct overflow_watch *watch; /* NULL: it gets no values */
    struct limit_state limit;
    struct apapi_overflow_crossing news; /* that its handler was not told; `count` 0: none */
    struct overflow_cpu *cpu;            /* PAPI counts; NULL: the session does */
    struct apapi_overflow what;          /* as it was set */
    char event[APAPI_NAME_SIZE];
    char unit[APAPI_UNIT_SIZE + 2]; /* of its values; "": not known */
    enum apapi_kind kind;           /* of the event, as the next; a domain has energy */
    bool accumulates;
    double step; /* of the coarsest of its counters: the least that its threshold can be */
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
    atomic_uint active; /* thresholds that readings may cross; 0: readings are not looked at */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* something has been told */
    sem_t semaphore;        /* there is something to tell; signals raise it, too */
    struct overflow_slot slots[APAPI_OVERFLOW_MAX];
    struct overflow_watch watches[APAPI_OVERFLOW_MAX];
    size_t watch_count; /* of them that have been in use */
    struct feed feeds[APAPI_DOMAINS];
    struct overflow_domain domains[APAPI_DOMAINS]; /* the first has the sum of the node */
    struct session_clock *clock;
    void (*hold)(void *owner, bool more); /* the thread begins to use all this, or has ended */
    void *owner;
    pthread_t thread; /* calls the handlers */
    bool started, ending, ended;
    int telling; /* the threshold whose handler runs; -1: none */
};

void overflow_init(struct overflows *overflows, struct session_clock *clock,
                   void (*hold)(void *owner, bool more), void *owner);
void overflow_clear(struct overflows *overflows);

/* --- readings: no call allocates, logs, or waits for a handler -------------------------------- */

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

/* --- handlers --------------------------------------------------------------------------------- */

/** Wait until all is told, but not in a handler. */
void overflow_flush(struct overflows *overflows, uint64_t patience_ns);

/** Begin no further call, and wait until their thread has ended; one that hangs is left to itself.
 */
void overflow_end(struct overflows *overflows);

#endif
