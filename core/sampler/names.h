/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_NAMES_H
#define SAMPLER_NAMES_H
#include "sampler/step.h"

/** Write the name of a user, or "" if there is none. Takes as long as the user database. */
void names_user(uint32_t uid, char *name, size_t size);

/**
 * Fill in the names of the step's user and cluster, and the node's cores. The node has precedence
 * over the environment.
 */
void names_complete(struct step *step);

#endif
