/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OVERLAP_H
#define REGIONS_OVERLAP_H

/**
 * apapi_region_end() for interfaces whose regions may overlap: those that were begun in it go on,
 * as regions of what is around it, and are counted once more.
 */
int overlap_end(const char *name);

#endif
