/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OUTPUT_H
#define REGIONS_OUTPUT_H
#include <stdbool.h>

/*
 * The output of this process: papi_hl_output/rank_NNNNNN.json in PAPI_OUTPUT_DIRECTORY or the
 * current folder, in the layout of PAPI's high-level API. Any thread may call these functions.
 */

/** This process has output, whatever its environment says. */
void output_want(void);

/** The same if PAPI_OUTPUT_DIRECTORY or PAPI_REPORT is in the environment. */
void output_want_if_asked(void);

bool output_is_wanted(void);

/**
 * Write the output of this process, if it has one.
 * @param last  with PAPI_REPORT in the environment, write it on standard output, too
 * @return 0; -1 with errno
 */
int output_write(bool last);

/** In the child of a fork, which has a file of its own in the same folder. */
void output_forget(void);

#endif
