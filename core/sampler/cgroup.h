/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_CGROUP_H
#define SAMPLER_CGROUP_H
#include <stddef.h>
#include <sys/types.h>

#define CGROUP_TEXT_SIZE 8192

/**
 * Find the control group that a process should be in instead of its job's.
 * @param path    as in /proc/self/cgroup: "/slurm/uid_0/job_7/step_0"
 * @param parent  result: the part above the job, "/slurm" or "/"
 * @return 0; -1: the path is not inside a job.
 */
int cgroup_above_job(const char *path, char *parent, size_t size);

/**
 * Move this process out of the control groups of its job, so that it is not charged to the job, not
 * frozen and not killed with it. If that is not possible, it stays.
 */
void cgroup_leave_job(void);

/** Read /proc/PID/cgroup. @return 0; -1: it cannot be read, or not all of it. */
int cgroup_read(pid_t pid, char groups[CGROUP_TEXT_SIZE]);

/**
 * Move this process into those of a process's control groups that are a job's.
 * @param groups  of the process, as cgroup_read() gives them
 * @return 0: it is in all of them, as the kernel says; -1: not in all.
 */
int cgroup_join(const char *groups);

#endif
