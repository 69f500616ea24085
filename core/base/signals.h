/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_SIGNALS_H
#define APAPI_BASE_SIGNALS_H
#include <signal.h>
#include <sys/types.h>

#define SIGNALS_CAUGHT 4 /* SIGINT, SIGQUIT, SIGTERM, SIGHUP */

/** The previous dispositions of those signals, and the signal mask. */
struct signals {
    struct sigaction before[SIGNALS_CAUGHT];
    sigset_t mask;
};

/** Catch them, unless they are ignored. They stay blocked until signals_open(). */
void signals_catch(struct signals *signals);

/** Restore the previous state. */
void signals_restore(const struct signals *signals);

/** Unblock them. */
void signals_open(const struct signals *signals);

/** Block them. */
void signals_close(void);

/** Pass on to `pid` the signals sent to this process alone; 0: to no process. */
void signals_pass_to(pid_t pid);

/** @return the latest signal, even if it is blocked now; 0: none. */
int signals_last(const struct signals *signals);

#endif
