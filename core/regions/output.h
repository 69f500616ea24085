/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OUTPUT_H
#define REGIONS_OUTPUT_H
#include <stdbool.h>

/*
 * The output of this process: papi_hl_output/rank_NNNNNN.json in PAPI_OUTPUT_DIRECTORY or the
 * current folder, in the layout of PAPI's high-level API.
 */

/** This process has output, whatever its environment says. Any thread. */
void output_want(void);

/** The same if PAPI_OUTPUT_DIRECTORY, PAPI_REPORT or PAPI_EVENTS is in the environment. */
void output_want_if_asked(void);

/** @return whether this process has output. Any thread. */
bool output_is_wanted(void);

/** Write the output of this process, if it has one. 0; -1 with errno. */
int output_write(void);

/** Write it for the last time and, with PAPI_REPORT in the environment, on standard output, too. */
void output_end(void);

#endif
