/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- thread --------------------------------------------------------------------------------- */

int thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error ? -1 : 0;
}

void thread_condition(pthread_cond_t *changed)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* --- futex ---------------------------------------------------------------------------------- */

/* FUTEX_WAIT_BITSET takes an absolute time; FUTEX_WAIT does not. */
void futex_wait(const uint32_t *word, uint32_t value, uint64_t deadline_ns)
{
    const struct timespec deadline = thread_deadline(deadline_ns);

    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
