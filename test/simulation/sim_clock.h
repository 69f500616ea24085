/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIMULATION_SIM_CLOCK_H
#define SIMULATION_SIM_CLOCK_H
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "session/schedule.h"
#include "session/worker.h"
#include "simulation/chance.h"

#define SIM_ACTORS 32 /* the caller, and all threads of a session that ever were */
#define SIM_STOPS 3   /* times in which the whole process stands still */
#define SIM_CLOCK_UNIX_NS INT64_C(1700000000000000000) /* when the clock shows 0 */

/**
 * A clock for a session without threads: a discrete-event simulation. The caller and each worker
 * are actors with a local time; always the one with the smallest time makes one step. What takes
 * time moves only the actor's own.
 */
struct sim_clock {
    struct session_clock base;
    struct random random;  /* for what is not in the history: how long a few instructions take */
    uint64_t late_once_in; /* an actor that wakes up is late; 0: never */
    uint64_t latest_ns;    /* by so much at most */
    struct sim_actor {
        uint64_t now_ns;
        uint64_t until_ns; /* it sleeps; 0: it does not */
        const pthread_cond_t *changed;
        struct worker *worker; /* NULL: the caller */
        bool alive;
        bool lost;     /* its source has ended the thread */
        jmp_buf ended; /* a source ends the thread */
    } actors[SIM_ACTORS];
    size_t count;
    struct sim_actor *running;
    struct {
        uint64_t from_ns, to_ns;
    } stops[SIM_STOPS];
    size_t stop_count;
    uint32_t refused; /* bit i: the thread i, counted from 0, cannot be started */
    unsigned started; /* threads, those that could not be started included */
    unsigned refusals, left;
    uint64_t steps, steps_max;
    const char *broken; /* what must not happen has happened: a deadlock, endless steps */
};

/** The caller begins at `now_ns`. */
void sim_clock_init(struct sim_clock *clock, uint64_t seed, uint64_t now_ns);

/** For a source or the caller: so much time passes. @return the time then. */
uint64_t sim_clock_pass(struct sim_clock *clock, uint64_t ns);

/** For a source: end the thread that calls. */
_Noreturn void sim_clock_end_thread(struct sim_clock *clock);

/** For the caller: let the others run until `until_ns`. */
void sim_clock_sleep(struct sim_clock *clock, uint64_t until_ns);

/** The session is gone: let all of its threads come to their end. @return false if one does not. */
bool sim_clock_finish(struct sim_clock *clock);

#endif
