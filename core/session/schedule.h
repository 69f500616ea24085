/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SCHEDULE_H
#define SESSION_SCHEDULE_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "base/random.h"
#include "measure/counter.h"

/* All time of a session: its clock, and when a source that failed and a probe are due. */

/**
 * All time of a session: what time it is, waiting, and the threads that wait. Nothing else in
 * session/ asks the system for any of it, so a test can run a session in simulated time.
 */
struct session_clock {
    /** @return monotonic time of the calling thread [ns]. */
    uint64_t (*now_ns)(struct session_clock *clock);

    /** The same instant in UTC since 1970 and in monotonic time [ns]. */
    void (*pair)(struct session_clock *clock, int64_t *unix_ns, uint64_t *now_ns);

    /** Since which boot of the node monotonic time counts; not known: `boot` stays as it is. */
    void (*boot)(struct session_clock *clock, char boot[APAPI_BOOT_SIZE]);

    /** @return CPU time of a thread that runs; NULL: of the calling one [ns]. */
    uint64_t (*cpu_ns)(struct session_clock *clock, const pthread_t *thread);

    /**
     * As pthread_cond_timedwait(), with the mutex held.
     * @param deadline_ns  UINT64_MAX: none
     * @return false if the deadline has passed.
     */
    bool (*wait)(struct session_clock *clock, pthread_cond_t *changed, pthread_mutex_t *mutex,
                 uint64_t deadline_ns);

    /** Wake all who wait for `changed`. */
    void (*wake)(struct session_clock *clock, pthread_cond_t *changed);

    /** Start a thread. @return 0; -1 with errno EAGAIN. */
    int (*start)(struct session_clock *clock, pthread_t *thread, void *(*run)(void *argument),
                 void *argument);

    /** Give back what is left of a thread: of one that has ended, or of one that is given up. */
    void (*leave)(struct session_clock *clock, pthread_t thread, bool ended);
};

/** @return the clock and the threads of the system. */
struct session_clock *session_clock_real(void);

static inline uint64_t session_clock_now_ns(struct session_clock *clock)
{
    return clock->now_ns(clock);
}

/*
 * When a component is tried again of which no event could be read: after 1, 2, 4, 8 ... intervals,
 * at most a minute. Pure arithmetic. Start with all zero.
 */
#define RETRY_PAUSE_MAX_NS UINT64_C(60000000000)
#define RETRY_REOPEN_NS UINT64_C(1000000000) /* after so long its source is reopened */

struct retry {
    uint64_t pause_ns;  /* until the next attempt; 0: the latest reading was good */
    uint64_t good_ns;   /* the latest good reading; the first in vain, if there is none */
    uint64_t failed_ns; /* the latest attempt in vain */
    uint64_t failures;  /* attempts in vain since the latest good reading */
    uint64_t outages;
    uint64_t outage_ns; /* length of those that are over, between good readings */
};

/** There was a good reading. */
void retry_good(struct retry *retry, uint64_t now_ns);

/** An attempt was in vain. */
void retry_failed(struct retry *retry, uint64_t interval_ns, uint64_t now_ns);

/** The latest attempt is made once more at once, by another thread: the pause is for both. */
void retry_repeat(struct retry *retry);

/** It has failed again, and for so long that what is open may never work again. */
bool retry_wants_reopening(const struct retry *retry);

/** @return time without readings, that of an outage which is not over included [ns]. */
uint64_t retry_outage_ns(const struct retry *retry);

/*
 * Readings 1, 2, 4, 8 ... ms after the first one of a run, up to the interval: a short run has few
 * others. They are for the sums alone: see apapi_meter_add(). A source that answers slowly
 * has fewer of them, or none.
 */
struct dense_start {
    uint64_t first_ns;    /* end of the first reading */
    uint64_t interval_ns; /* between two usual readings */
    uint64_t after_ns;    /* the next one is so long after it, at most */
    uint64_t due_ns;      /* the next one; UINT64_MAX: none */
};

/**
 * The first reading was taken, or one of these.
 * @param random  NULL: the next one comes when its time has passed; else at any moment since half
 *                of it has
 */
void dense_start_next(struct dense_start *dense, struct apapi_moment when, struct random *random);

/*
 * When the probes of a component are taken: two readings close together, at random moments whose
 * distances grow with the time that has passed. They show the power within an interval, and how
 * often the counters move. struct apapi_probe says more.
 */
struct probe_plan {
    struct random random;
    uint64_t update_ns;   /* of the counters; 0: no probes */
    uint64_t interval_ns; /* between two usual readings */
    uint64_t apart_ns;    /* from the first reading of a probe to its second one */
    uint64_t begin_ns;    /* the first reading of the run */
    uint64_t first_ns;    /* the first one of this probe */
    uint64_t due_ns;      /* the next reading; UINT64_MAX: none */
    unsigned slow;        /* latest readings that took long, one after the other */
    enum probe_reading { PROBE_FIRST, PROBE_SECOND } next;
};

/**
 * A run begins, with no probes yet. `random` stays as it is.
 * @param update_ns    the shortest known update period of the component's counters; 0: none
 * @param stated       by the source
 * @param interval_ns  between two usual readings
 * @param grid_ns      no two readings are nearer to each other
 */
void probe_plan_restart(struct probe_plan *plan, uint64_t update_ns, bool stated,
                        uint64_t interval_ns, uint64_t grid_ns);

/** The first usual reading of the run was taken: it is the first one of a probe as well. */
void probe_plan_begin(struct probe_plan *plan, struct apapi_moment when);

/** The reading was taken. @param moved  each counter has moved since the one before */
void probe_plan_next(struct probe_plan *plan, struct apapi_moment when, bool moved);

#endif
