/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SCHEDULE_H
#define SESSION_SCHEDULE_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "apapi/measurement.h"
#include "base/random.h"
#include "measure/counter.h"

/* The time of a session: its clock, and when retries of a failed source and probes are due. */

/**
 * The clock of a session: the time, waiting, and the threads that wait. Nothing else in a session
 * asks the system for any of these, so a test can run a session in simulated time.
 */
struct session_clock {
    /** @return monotonic time of the calling thread [ns]. */
    uint64_t (*now_ns)(struct session_clock *clock);

    /** Tell one instant in UTC since 1970 and in monotonic time [ns]. */
    void (*pair)(struct session_clock *clock, int64_t *unix_ns, uint64_t *now_ns);

    /** Tell the ID of the boot since which monotonic time counts; not known: no change. */
    void (*boot)(struct session_clock *clock, char boot[APAPI_BOOT_SIZE]);

    /** @return CPU time of a thread that runs; NULL: of the calling thread [ns]. */
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

    /** Join a thread that has ended, or detach one that is given up. */
    void (*leave)(struct session_clock *clock, pthread_t thread, bool ended);
};

/** @return the clock and the threads of the system. */
struct session_clock *session_clock_real(void);

static inline uint64_t session_clock_now_ns(struct session_clock *clock)
{
    return clock->now_ns(clock);
}

/*
 * A component of which no event could be read is tried again after 1, 2, 4, 8 ... intervals, at
 * most a minute. Pure arithmetic. Start with all zeros.
 */
#define RETRY_PAUSE_MAX_NS UINT64_C(60000000000)
#define RETRY_REOPEN_NS UINT64_C(1000000000) /* an outage after which the source is reopened */

struct retry {
    uint64_t pause_ns;  /* until the next attempt; 0: the latest reading was good */
    uint64_t good_ns;   /* time of the latest good reading, or else of the first failed attempt */
    uint64_t failed_ns; /* time of the latest failed attempt */
    uint64_t failures;  /* failed attempts since the latest good reading */
    uint64_t outages;
    uint64_t outage_ns; /* length of the outages that are over, between good readings */
};

/** Note a good reading. */
void retry_good(struct retry *retry, uint64_t now_ns);

/** Note a failed attempt. */
void retry_failed(struct retry *retry, uint64_t interval_ns, uint64_t now_ns);

/** Note that another thread repeats the latest attempt at once: both have one pause. */
void retry_repeat(struct retry *retry);

/** @return whether it failed again, for so long that the open source may never work again. */
bool retry_wants_reopening(const struct retry *retry);

/** @return time without readings, including an outage that is not over [ns]. */
uint64_t retry_outage_ns(const struct retry *retry);

/*
 * Readings 1, 2, 4, 8 ... ms after the first one of a run, up to the interval: a short run has few
 * others. They are for the sums alone: see apapi_meter_add(). A source that answers slowly
 * has fewer of them, or none.
 */
struct dense_start {
    uint64_t first_ns;    /* end of the first reading */
    uint64_t interval_ns; /* between two usual readings */
    uint64_t after_ns;    /* greatest time from `first_ns` to the next dense reading */
    uint64_t due_ns;      /* the next dense reading; UINT64_MAX: none */
};

/**
 * Plan the next dense reading, after the first reading of the run or a dense one.
 * @param random  NULL: the next one comes at the end of its time; else at a random moment in the
 *                second half of it
 */
void dense_start_next(struct dense_start *dense, struct apapi_moment when, struct random *random);

/*
 * The times of a component's probes. A probe is two readings close together; probes come at random
 * moments whose distances grow with the time that has passed. They show the power within an
 * interval, and how often the counters move. struct apapi_probe says more.
 */
struct probe_plan {
    struct random random;
    uint64_t update_ns;   /* update period of the counters; 0: no probes */
    uint64_t interval_ns; /* between two usual readings */
    uint64_t apart_ns;    /* from the first reading of a probe to its second one */
    uint64_t begin_ns;    /* time of the first reading of the run */
    uint64_t first_ns;    /* time of the first reading of this probe */
    uint64_t due_ns;      /* the next reading; UINT64_MAX: none */
    unsigned slow;        /* number of latest readings in a row that took long */
    enum probe_reading { PROBE_FIRST, PROBE_SECOND } next;
};

/**
 * Begin a run, with no probes yet. `random` stays as it is.
 * @param update_ns    the shortest known update period of the component's counters; 0: none
 * @param stated       whether the source states it
 * @param interval_ns  between two usual readings
 * @param grid_ns      least distance between two readings
 */
void probe_plan_restart(struct probe_plan *plan, uint64_t update_ns, bool stated,
                        uint64_t interval_ns, uint64_t grid_ns);

/** Take the first usual reading of the run as the first reading of a probe, too. */
void probe_plan_begin(struct probe_plan *plan, struct apapi_moment when);

/** Plan the next reading of a probe. @param moved  all counters have moved since the one before */
void probe_plan_next(struct probe_plan *plan, struct apapi_moment when, bool moved);

#endif
