/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_BESIDE_H
#define SAMPLER_BESIDE_H
#include <stdbool.h>
#include <sys/resource.h>

#include "limit/actor.h"

/*
 * Work beside a task, as its user: apapi-sampler executes itself, so that no memory of root
 * is left in the process that looks at what belongs to the user.
 */

/**
 * In a new process of root's: enter the control groups of the task's job, take the task's priority
 * and read its limits.
 * @return 0; -1: the task has ended, or not all of this was possible.
 */
int beside_enter(const struct process_task *task, struct rlimit limits[RLIM_NLIMITS]);

/**
 * As the user: lower the limits to the task's, and execute apapi-sampler. Before that, the process
 * still cannot be traced by the user. Returns on failure.
 */
void beside_become(const struct process_task *task, const struct job_launch *launch,
                   const struct rlimit limits[RLIM_NLIMITS]);

/** @return whether a command line is that of beside_become(). */
bool beside_is_asked(int argc, char **argv);

/** Do it. @return the exit status, if no command is executed. */
int beside_run(char **argv);

#endif
