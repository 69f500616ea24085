/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_SESSION_CLOCK_H
#define SESSION_SESSION_CLOCK_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/**
 * All time of a session: what time it is, waiting, and the threads that wait. Nothing else in
 * session/ asks the system for any of it, so a test can run a session in simulated time.
 */
struct session_clock {
    /** @return monotonic time of the calling thread [ns]. */
    uint64_t (*now_ns)(struct session_clock *clock);

    /** The same instant in UTC since 1970 and in monotonic time [ns]. */
    void (*pair)(struct session_clock *clock, int64_t *unix_ns, uint64_t *now_ns);

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

#endif
