/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REGIONS_OUTPUT_H
#define REGIONS_OUTPUT_H

/** This process has output, whatever its environment says. Any thread. */
void output_want(void);

/** Write the output of this process, if it has one. 0; -1 with errno. */
int output_write(void);

#endif
