/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_SIGNALS_H
#define ATIME_SIGNALS_H
#include <signal.h>
#include <sys/types.h>

#define SIGNALS_CAUGHT 4 /* SIGINT, SIGQUIT, SIGTERM, SIGHUP */

/** How this process dealt with those signals before, and with all others. */
struct signals {
    struct sigaction before[SIGNALS_CAUGHT];
    sigset_t mask;
};

/** Catch them, but for those that are ignored. They stay blocked until signals_open(). */
void signals_catch(struct signals *signals);

/** Everything as it was before. */
void signals_restore(const struct signals *signals);

/** Let them come in. */
void signals_open(const struct signals *signals);

/** Hold them back. */
void signals_close(void);

/** Pass on to `pid` what comes in and was sent to this process alone; 0: nobody. */
void signals_pass_to(pid_t pid);

/** @return the signal that came in last, also if it is held back now; 0: none. */
int signals_last(const struct signals *signals);

#endif
