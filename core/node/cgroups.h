/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_CGROUPS_H
#define NODE_CGROUPS_H
#include <stdbool.h>
#include <stdint.h>

/*
 * The control groups of Slurm's steps on this node, of version 1 and 2. Nothing here allocates.
 * APAPI_SYSROOT stands before all paths.
 */

#define CGROUP_STEP_SIZE 32
#define CGROUP_PATH_SIZE 512
#define CGROUP_CPU_UNKNOWN UINT64_MAX

/** Where they are. */
struct cgroups {
    char steps[CGROUP_PATH_SIZE]; /* the folder that has the jobs' */
    char cores[CGROUP_PATH_SIZE]; /* the one of the same structure that knows the cores */
    char root[CGROUP_PATH_SIZE];  /* the group of all processes */
    bool unified;                 /* version 2 */
    bool counts;                  /* CPU time is known */
};

/** A step's. */
struct cgroup_step {
    uint32_t job;
    char step[CGROUP_STEP_SIZE]; /* "0", "batch" */
    uint64_t inode;              /* another one if the step runs again */
    int64_t born_unix_ns;        /* when it was made, or soon after that */
    uint64_t cpu_ns;             /* CPU time of its processes, also of those that have ended */
    char path[CGROUP_PATH_SIZE]; /* below `steps` */
};

/** @return whether there are any: Slurm makes the folder with the first step. */
bool cgroups_find(struct cgroups *groups, const char *node);

/** Call `visit` for each step that runs. @return false: the folder is gone. */
bool cgroups_scan(const struct cgroups *groups,
                  void (*visit)(const struct cgroup_step *step, void *context), void *context);

/** @return processors that a step may use; NaN: not known. */
double cgroups_cores(const struct cgroups *groups, const struct cgroup_step *step);

/** @return CPU time of all processes of this machine; CGROUP_CPU_UNKNOWN. [ns] */
uint64_t cgroups_root_cpu_ns(const struct cgroups *groups);

/** Call `visit` for each name in a folder that does not begin with a dot. */
void cgroups_entries(int folder, void (*visit)(int folder, const char *name, void *context),
                     void *context);

#endif
