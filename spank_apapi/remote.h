/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_REMOTE_H
#define SPANK_APAPI_REMOTE_H
#include <slurm/spank.h>

/*
 * slurmstepd, root. All return ESPANK_SUCCESS. With contain_spank, task_post_fork and task_exit run
 * in a process that shares memory but has a copy of the descriptors: they open and close nothing
 * permanently.
 */

/** Once: register the options. */
int spank_apapi_remote_init(spank_t spank, int count, char *const words[]);

/** Once: start apapi-sampler. Waits for start_timeout at most. */
int spank_apapi_remote_init_post_opt(spank_t spank);

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
