/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_JOB_NODES_H
#define SPANK_APAPI_JOB_NODES_H
#include <stddef.h>

#include "naming.h"

#define SPANK_APAPI_COMPONENTS_MAX 128 /* of a heterogeneous job: as many as Slurm allows */

/**
 * The nodes of a job as the environment of its batch script, or of salloc, lists them: "n[1-4]",
 * "n[1-4],n7" of two components of a heterogeneous job. One that they share stands there twice.
 * @return 0; -1: not known, or there is no room; names is "" then
 */
int spank_apapi_job_nodes(spank_apapi_look_f look, void *context, char *names, size_t size);

#endif
