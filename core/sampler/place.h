/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PLACE_H
#define SAMPLER_PLACE_H
#include "sampler/step.h"

/**
 * Be as any other process of root's, and not as slurmstepd, to the kernel that runs out of memory;
 * gain no rights by executing anything; leave no core files.
 */
void place_limits(void);

/** Go to the CPUs and the priority that the site wants, as far as that can be done. */
void place_self(const struct step *step);

#endif
