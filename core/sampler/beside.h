/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_BESIDE_H
#define SAMPLER_BESIDE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "limit/crossings.h"

/**
 * Move this process out of the control groups of its job, so that it is not charged to the job, not
 * frozen and not killed with it. If that is not possible, the process stays.
 */
void cgroup_leave_job(void);

/*
 * Work beside a task, as its user: apapi-sampler executes itself, so that no memory of root
 * is left in the process that opens what belongs to the user.
 */

/**
 * In a new process of root: enter the control groups of the task's job, take the task's priority
 * and read its limits.
 * @return 0; -1: the task has ended, or not all of this was possible.
 */
int beside_enter(const struct process *task, struct rlimit limits[RLIM_NLIMITS]);

/**
 * As the user: lower the limits to the task's, and execute apapi-sampler. Until the execution, the
 * user cannot trace the process. Returns on failure.
 */
void beside_become(const struct process *task, const struct job_launch *launch,
                   const struct rlimit limits[RLIM_NLIMITS]);

/** @return whether a command line is that of beside_become(). */
bool beside_is_asked(int argc, char **argv);

/** Do what the command line asks. @return the exit status, if no command is executed. */
int beside_run(char **argv);

/* For tests. */

/**
 * Find the control group that a process should be in instead of its job's.
 * @param path    as in /proc/self/cgroup: "/slurm/uid_0/job_7/step_0"
 * @param parent  result: the part above the job, "/slurm" or "/"
 * @return 0; -1: the path is not inside a job.
 */
int cgroup_above_job(const char *path, char *parent, size_t size);

/**
 * Move this process into those control groups of a text like /proc/PID/cgroup that belong to a job.
 * @return 0: the kernel says that the process is in all of them; -1: it is not in all.
 */
int cgroup_join(const char *groups);

#endif
