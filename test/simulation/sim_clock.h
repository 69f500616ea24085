/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_SIM_CLOCK_H
#define SIMULATION_SIM_CLOCK_H
#include <setjmp.h>
#include <stdint.h>

#include "session/schedule.h"
#include "session/worker.h"
#include "simulation/chance.h"

#define SIM_ACTORS 32 /* the caller, and all threads that a session has ever had */
#define SIM_STOPS 3   /* times in which the whole process stands still */
#define SIM_CLOCK_UNIX_NS INT64_C(1700000000000000000) /* when the clock is at 0 */

/**
 * A clock for a session without threads: a discrete-event simulation. The caller and each worker
 * are actors, each with a local time. The actor with the smallest time makes the next step. What
 * takes time moves only the actor's own time.
 */
struct sim_clock {
    struct session_clock base;
    struct random random;  /* for what the history does not say: how long a few instructions take */
    uint64_t late_once_in; /* one in so many wake-ups of actors is late; 0: none */
    uint64_t latest_ns;    /* the longest delay */
    struct sim_actor {
        uint64_t now_ns;
        uint64_t until_ns; /* it sleeps until then; 0: it does not sleep */
        const pthread_cond_t *changed;
        struct worker *worker; /* NULL: the caller */
        bool alive;
        bool lost;     /* a source has ended the thread */
        jmp_buf ended; /* to here, a source ends the thread */
    } actors[SIM_ACTORS];
    size_t count;
    struct sim_actor *running;
    struct {
        uint64_t from_ns, to_ns;
    } stops[SIM_STOPS];
    size_t stop_count;
    uint32_t refused; /* bit i: the thread i, counted from 0, cannot be started */
    unsigned started; /* threads, with those that could not be started */
    unsigned refusals, left;
    uint64_t steps, steps_max;
    const char *broken; /* an event that must not happen: a deadlock, endless steps; NULL */
};

/** Begin the clock; the caller's time is `now_ns`. */
void sim_clock_init(struct sim_clock *clock, uint64_t seed, uint64_t now_ns);

/** For a source or the caller: let time pass. @return the time after it. */
uint64_t sim_clock_pass(struct sim_clock *clock, uint64_t ns);

/** For a source: end the thread that calls it. */
_Noreturn void sim_clock_end_thread(struct sim_clock *clock);

/** For the caller: let the other actors run until `until_ns`. */
void sim_clock_sleep(struct sim_clock *clock, uint64_t until_ns);

/** End all threads of a session that is gone. @return false if one does not end. */
bool sim_clock_finish(struct sim_clock *clock);

#endif
