/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_BASE_CHILD_H
#define APAPI_BASE_CHILD_H
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#include "apapi/error.h"

#define TIMERS 3 /* of setitimer(2), by number */

/** The caught signals, those of them that were ignored, and what was before: the disposition of
 * SIGCHLD, timers and signal mask. */
struct signals {
    sigset_t caught, ignored, mask;
    struct sigaction before_child;
    struct itimerval timers[TIMERS];
};

/**
 * Catch the signals that would end this process, or that it ignores or blocks: a program may do
 * otherwise. They stay blocked until signals_last() or
 * child_run(). Timers stop: each program gets them as they are now. SIGCHLD gets its default: if
 * it were ignored, no program could be waited for.
 */
void signals_catch(struct signals *signals);

/** Restore the previous state. */
void signals_restore(const struct signals *signals);

/** @return the latest SIGINT, SIGQUIT, SIGTERM or SIGHUP, even if blocked until now; 0: none. */
int signals_last(const struct signals *signals);

/**
 * Note which descriptors this process was given: programs get these, and none that a library opens
 * here. Call it before anything is opened.
 */
void child_note_descriptors(void);

#define CHILD_NOT_EXECUTABLE 126
#define CHILD_NOT_FOUND 127

/** How a program ended. */
struct child_end {
    int status;          /* as from waitpid() */
    uint64_t elapsed_ns; /* from start to end [ns] */
    /* Of the program and all descendants that it waited for: */
    double user_s, system_s; /* CPU time [s] */
    uint64_t peak_bytes;     /* the greatest resident size of one of these processes */
};

/** A function that is called when a program has been started. */
struct child_started {
    void (*call)(pid_t pid, void *context);
    void *context;
};

/**
 * Run a program and wait for its end. It has this process' descriptors and environment, and the
 * signal mask, dispositions and timers that were set before signals_catch(). A caught signal that
 * is sent to this process alone is passed on to the program; before and after the run, it stays
 * blocked.
 * @param argv     as for execvp(), NULL-terminated, argv[0] is searched in PATH
 * @param started  called when the program runs; NULL: not needed
 * @return 0; -1 with errno, for child_start_failure().
 */
int child_run(char *const argv[], const struct signals *signals,
              const struct child_started *started, struct child_end *end, struct apapi_error *err);

/** @return a shell's exit status for a program that could not be started with this errno. */
int child_start_failure(int error);

/** @return the program's exit status; 128 + signal if it was killed. */
int child_exit_code(int status);

#endif
