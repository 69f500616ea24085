/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REGIONS_REGIONS_JOB_H
#define APAPI_REGIONS_REGIONS_JOB_H
#include "cli/job/job.h"
#include "cli/regions/regions.h"

/**
 * Add the regions of a job's records: those of a step are added up over its nodes.
 * @param detail  each node has rows of its own instead
 * @return 0; -1 with errno ENOMEM
 */
int regions_read_job(struct regions *regions, const struct show *show, bool detail);

#endif
