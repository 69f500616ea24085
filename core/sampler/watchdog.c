/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

/* No handler: the signal then ends a process in a blocking system call, too. */
void watchdog_set(unsigned seconds)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    sigset_t end;

    sigaction(SIGALRM, &plain, NULL);
    sigemptyset(&end);
    sigaddset(&end, SIGALRM);
    alarm(seconds);
    pthread_sigmask(SIG_UNBLOCK, &end, NULL);
}
