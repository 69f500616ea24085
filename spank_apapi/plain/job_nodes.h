/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_JOB_NODES_H
#define SPANK_APAPI_JOB_NODES_H
#include <stddef.h>

#include "naming.h"

#define SPANK_APAPI_COMPONENTS_MAX 128 /* of a heterogeneous job: Slurm's limit */

/**
 * The nodes of a job from the environment of its batch script or of salloc: "n[1-4]", or
 * "n[1-4],n7" for two components of a heterogeneous job. A node of two components is listed twice.
 * @return 0; -1: not known, or too long; names is "" then
 */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size);

#endif
