/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_NODE_MODE_H
#define SAMPLER_NODE_MODE_H
#include <stdbool.h>

#include "channel/message.h"

/*
 * The mode for a whole node: for slurmd's plugin, behind APAPI_CHANNEL_FD; or by hand, until it is
 * told to end: `apapi-sampler --node NAME [CONFIG]`.
 */

bool node_mode_is_asked(int argc, char **argv);

/** @return the program's exit status. */
int node_mode_run(char **argv);

/** @param message  APAPI_WORD_NODE. It is used for the answer. @return the exit status. */
int node_mode_serve(struct message *message);

#endif
