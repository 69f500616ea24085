/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_NAMES_H
#define SAMPLER_NAMES_H
#include "sampler/step.h"

/** Write the name of a user, or "" if there is none. Takes as long as the user database. */
void names_user(uint32_t uid, char *name, size_t size);

/**
 * Fill in the names of the step's user and cluster, which the live page has, too. The node has
 * precedence over the environment.
 */
void names_complete(struct step *step);

/** Fill in the node's cores. A slurm.conf of a large cluster takes milliseconds. */
void names_count_cores(struct step *step);

#endif
