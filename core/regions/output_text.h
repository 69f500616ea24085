/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OUTPUT_TEXT_H
#define REGIONS_OUTPUT_TEXT_H
#include <stdbool.h>
#include <stdio.h>

/** @return whether this process has begun a region. */
bool output_has_regions(void);

/**
 * Write the regions of this process as JSON, in the layout of PAPI's high-level API. One thread at
 * a time.
 * @param run  of output_folder_run()
 */
void output_text(FILE *out, const char *run);

#endif
