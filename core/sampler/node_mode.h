/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_NODE_MODE_H
#define SAMPLER_NODE_MODE_H
#include <stdbool.h>

/*
 * The mode for a whole node: `apapi-sampler --node NAME [CONFIG]`. If its descriptor
 * APAPI_CHANNEL_FD is a socket, it goes on in the background, and ends when the other side does.
 */

bool node_mode_is_asked(int argc, char **argv);

/** @return the program's exit status. */
int node_mode_run(int argc, char **argv);

#endif
