/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_NAMES_H
#define SAMPLER_NAMES_H
#include "sampler/step.h"

/** Write the name of a user; nothing where he has none. May take as long as the user database. */
void names_user(uint32_t uid, char *name, size_t size);

/**
 * Name the step's user and cluster: what the node knows counts, and what the step's environment
 * says where that cannot be had.
 */
void names_complete(struct step *step);

#endif
