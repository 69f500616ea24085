/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_RELAY_H
#define SAMPLER_RELAY_H
#include "sampler/step.h"

/**
 * Have the node sampler read the meters for this step, if one runs and the site wants that. Before
 * the session is created.
 */
void relay_use(const struct step *step);

#endif
