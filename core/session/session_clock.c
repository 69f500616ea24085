/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session_clock.h"

#include "base/clock.h"
#include "base/thread.h"

static uint64_t real_now_ns(struct session_clock *clock)
{
    (void)clock;
    return clock_monotonic_ns();
}

static void real_pair(struct session_clock *clock, int64_t *unix_ns, uint64_t *now_ns)
{
    (void)clock;
    clock_pair(unix_ns, now_ns);
}

static uint64_t real_cpu_ns(struct session_clock *clock, const pthread_t *thread)
{
    clockid_t cpu_clock;

    (void)clock;
    if (!thread) {
        return clock_thread_cpu_ns();
    }
    return pthread_getcpuclockid(*thread, &cpu_clock) ? 0 : clock_ns(cpu_clock);
}

static bool real_wait(struct session_clock *clock, pthread_cond_t *changed, pthread_mutex_t *mutex,
                      uint64_t deadline_ns)
{
    const struct timespec deadline = thread_deadline(deadline_ns);

    (void)clock;
    if (deadline_ns == UINT64_MAX) {
        return pthread_cond_wait(changed, mutex) == 0;
    }
    return pthread_cond_timedwait(changed, mutex, &deadline) == 0;
}

static void real_wake(struct session_clock *clock, pthread_cond_t *changed)
{
    (void)clock;
    pthread_cond_broadcast(changed);
}

static int real_start(struct session_clock *clock, pthread_t *thread, void *(*run)(void *argument),
                      void *argument)
{
    (void)clock;
    return thread_start(thread, run, argument);
}

static void real_leave(struct session_clock *clock, pthread_t thread, bool ended)
{
    (void)clock;
    if (ended) {
        pthread_join(thread, NULL);
    } else {
        pthread_detach(thread);
    }
}

struct session_clock *session_clock_real(void)
{
    static struct session_clock real = {.now_ns = real_now_ns,
                                        .pair = real_pair,
                                        .cpu_ns = real_cpu_ns,
                                        .wait = real_wait,
                                        .wake = real_wake,
                                        .start = real_start,
                                        .leave = real_leave};

    return &real;
}
