/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_HOOKS_H
#define SPANK_APAPI_HOOKS_H
#include <slurm/spank.h>

/* The hooks' work in each kind of process. All return ESPANK_SUCCESS. */

/* --- srun, as the user, once each --- */

/**
 * For each component of a heterogeneous job, before Slurm makes its environment: listen, and pass
 * the address to the nodes.
 */
int spank_apapi_local_init_post_opt(void);

/** After the creation of the step: start apapi-collect, which takes over the socket. */
int spank_apapi_local_user_init(spank_t spank);

/** After the end of the step: print the report. */
int spank_apapi_local_exit(void);

/* --- sbatch and salloc, as the user, once each --- */

/** Report problems of the configuration. salloc: tell the sruns where to forward records. */
int spank_apapi_allocator_init_post_opt(void);

/** salloc: print the job's table. */
int spank_apapi_allocator_exit(void);

/*
 * --- slurmstepd, root ---
 * With contain_spank, task_post_fork and task_exit run in a process that shares memory but has a
 * copy of the descriptors: they open and close nothing permanently.
 */

/** Once: start apapi-sampler. Waits for start_timeout at most. */
int spank_apapi_remote_init_post_opt(spank_t spank, int count, char *const words[]);

/** Once, as the user, in the job's folder: note the folder. */
int spank_apapi_remote_user_init(void);

/** For each task, in its own process, before exec: set the variable with its live page. */
int spank_apapi_remote_task_init(spank_t spank);

/** For each task; at the first one, start the sampling. Waits for start_timeout at most. */
int spank_apapi_remote_task_post_fork(spank_t spank);

/** For each task; at the last one, send the record to srun. Waits for stop_timeout at most. */
int spank_apapi_remote_task_exit(spank_t spank);

/** Once: do what is still to do, print the report of a batch step, close everything. */
int spank_apapi_remote_exit(spank_t spank);

#endif
