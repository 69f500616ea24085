/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_LOCAL_H
#define SPANK_APAPI_LOCAL_H
#include <slurm/spank.h>

/* srun, as the user, once each. All return ESPANK_SUCCESS. */

/** Register the options. */
int spank_apapi_local_init(spank_t spank, int count, char *const words[]);

/**
 * For each component of a heterogeneous job, before Slurm makes its environment: listen, and pass
 * the address to the nodes.
 */
int spank_apapi_local_init_post_opt(void);

/** After the creation of the step: start apapi-collect, which takes over the socket. */
int spank_apapi_local_user_init(spank_t spank);

/** After the end of the step: print the report. */
int spank_apapi_local_exit(void);

#endif
