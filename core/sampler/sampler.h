/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H
#include <stdbool.h>

/*
 * The mode for a whole node: for slurmd's plugin, behind APAPI_CHANNEL_FD; or by hand, until it is
 * told to end: `apapi-sampler --node NAME [CONFIG]`.
 */

bool node_mode_is_asked(int argc, char **argv);

/** @return the program's exit status. */
int node_mode_run(char **argv);

/** Measure a step for the plugin behind APAPI_CHANNEL_FD. @return the program's exit status. */
int sampler_run(void);

#endif
