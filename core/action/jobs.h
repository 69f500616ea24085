/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_JOBS_H
#define ACTION_JOBS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "action/processes.h"

/* Processes that an actor has started and waits for: commands of the user, and lines to print. */

/** Exit status of a process that could not do it beside its task. */
#define JOB_NOT_DONE 126

/** What a new process is to do. */
struct job_launch {
    const struct processes *tasks; /* beside one of which it runs */
    bool prints; /* `text` is a line for the standard error of the task; else a command */
    const char *text;
    char *const *variables; /* "APAPI_OVERFLOW_COUNT=1", ends with a NULL */
};

/** Become it. Runs in the new process, which leads a session and a group. Returns on failure. */
typedef void (*job_launch_f)(const struct job_launch *launch, const void *context);

#define JOBS_MAX 128 /* at a time */

struct job {
    pid_t pid;       /* 0: free */
    uint64_t number; /* of the crossing */
    size_t threshold;
    bool prints;
};

struct jobs {
    job_launch_f launch;
    const void *context;
    struct job jobs[JOBS_MAX];
};

enum jobs_outcome { JOBS_STARTED, JOBS_STILL_RUNNING, JOBS_FAILED };

/**
 * Start a process, unless the threshold has one of this kind that still runs.
 * @param job  number, threshold and prints
 */
enum jobs_outcome jobs_start(struct jobs *jobs, const struct job *job,
                             const struct job_launch *launch);

/** Take a process that has ended. @return whether there was one. @param status  as of waitpid() */
bool jobs_reap(struct jobs *jobs, struct job *ended, int *status);

/** @return whether any process runs. */
bool jobs_run(const struct jobs *jobs);

/** @return whether a session was begun by one of the processes. This is a processes_spare_f. */
bool jobs_own(pid_t session, const void *jobs);

/** Kill what still runs, with its process group. jobs_reap() has them then. */
void jobs_kill(struct jobs *jobs);

#endif
