/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_PRINT_REGIONS_H
#define ATIME_PRINT_REGIONS_H
#include "atime/print.h"

/* Regions of several runs. */

/** One region in those runs that have it. */
struct region_spread {
    struct spread time_s, energy_j, mean_w; /* mean_w: by the time of its threads */
};

/**
 * Add up the regions of all runs.
 * @param sums  result; empty it with apapi_regions_clear()
 * @return 0; -1 with errno ENOMEM
 */
int report_regions(const struct report *report, struct apapi_regions *sums);

/** @param region  one of the list of report_regions() */
struct region_spread report_region(const struct report *report,
                                   const struct apapi_region_result *region);

/** A row for each of those with the highest energy, and the figures of merit. 0; -1 with ENOMEM. */
int print_regions(FILE *out, const struct report *report);

#endif
