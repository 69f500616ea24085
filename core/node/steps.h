/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_STEPS_H
#define NODE_STEPS_H
#include <stdbool.h>
#include <stdint.h>

/*
 * Slurm's steps that run on this node: their control groups, of version 1 and 2, and the GPUs
 * on their live pages. No function allocates. APAPI_SYSROOT is put before the paths of groups.
 */

#define NODE_GPUS 64 /* most GPUs of a node; the energy of more is only in the domain gpu */
#define CGROUP_STEP_SIZE 32
#define CGROUP_PATH_SIZE 512
#define CGROUP_CPU_UNKNOWN UINT64_MAX

/** Folders of the control groups. */
struct cgroups {
    char steps[CGROUP_PATH_SIZE]; /* the folder with the groups of jobs */
    char cores[CGROUP_PATH_SIZE]; /* a folder of the same structure, whose groups list the cores */
    char root[CGROUP_PATH_SIZE];  /* the group of all processes */
    bool unified;                 /* version 2 */
    bool counts;                  /* CPU time is known */
};

/** The control group of a step. */
struct cgroup_step {
    uint32_t job;
    char step[CGROUP_STEP_SIZE]; /* "0", "batch" */
    uint64_t inode;              /* differs if the step runs again */
    int64_t born_unix_ns;        /* when the group was made, or soon after */
    uint64_t cpu_ns;             /* CPU time of its processes, also of those that have ended */
    char path[CGROUP_PATH_SIZE]; /* below `steps` */
};

/** Find the folders. @return whether there are any: Slurm makes them with the first step. */
bool cgroups_find(struct cgroups *groups, const char *node);

/** Call `visit` for each step that runs. @return false: the folder is gone. */
bool cgroups_scan(const struct cgroups *groups,
                  void (*visit)(const struct cgroup_step *step, void *context), void *context);

/** @return the number of processors that a step may use; NaN: not known. */
double cgroups_cores(const struct cgroups *groups, const struct cgroup_step *step);

/** @return CPU time of all processes of this machine [ns]; CGROUP_CPU_UNKNOWN: not known. */
uint64_t cgroups_root_cpu_ns(const struct cgroups *groups);

/** @return the GPU's number in the name of its event: "device_3", "device=3"; -1: none */
int node_gpu_index(const char *name);

/** GPUs of a step. Its part of each is in slices (MIG); 0: the whole GPU, or not known. */
struct node_gpus {
    uint64_t bits;                 /* 0: none, or not known */
    uint8_t slices[NODE_GPUS];     /* that the step has */
    uint8_t slices_all[NODE_GPUS]; /* that the GPU has */
};

/**
 * Find the GPUs of a step: its live page has those that it measures, which are those that it has.
 */
void node_gpus_of(const char *live_dir, const char *node, uint32_t job, const char *step,
                  struct node_gpus *gpus);

/** @return whether a step of the node has a live page. */
bool node_any_step_is_live(const char *live_dir, const char *node);

#endif
