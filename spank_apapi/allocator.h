/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_ALLOCATOR_H
#define SPANK_APAPI_ALLOCATOR_H
#include <slurm/spank.h>

/* sbatch, salloc, as the user, once each. All return ESPANK_SUCCESS. */

/** Register the options. Slurm checks them through callbacks. */
int spank_apapi_allocator_init(spank_t spank, int count, char *const words[]);

/** Report problems of the configuration. salloc: tell the sruns where to forward records. */
int spank_apapi_allocator_init_post_opt(void);

/** salloc: print the job's table. */
int spank_apapi_allocator_exit(void);

#endif
