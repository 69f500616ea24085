/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_REGIONS_H
#define APAPI_RENDER_REGIONS_H
#include <stdio.h>

#include "apapi/region_result.h"

#define TABLE_REGIONS 5 /* regions in a table */

/** @return the label of a region's row: "solve/iterate", "(idle)", "(unmarked)", "(rest)". */
const char *table_region_label(const struct apapi_region_result *region);

/** @return uncertainty of a region's energy in the domains that add up [J]; NaN: not known. */
double table_region_uncertainty_j(const struct apapi_region_result *region);

/** @return "iterations 50, 2.000 J each". @param energy_j  of the whole step; NaN: not known */
struct fom_text {
    char text[384];
} table_fom_text(const struct apapi_fom *fom, double energy_j);

/**
 * Print the regions with the highest energy, a line with the number of others, and the figures of
 * merit. Prints nothing if there are none.
 * @param regions   as region_sums_result() sorts them
 * @param energy_j  of the whole step [J]; NaN: not known
 * @param step      step's ID for a hint, "17.0"; NULL: no hint
 * @return 0; -1: out of memory
 */
int table_put_regions(const struct apapi_regions *regions, double energy_j, const char *step,
                      FILE *out);

#endif
