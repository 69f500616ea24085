/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H
#include "sampler/step.h"

/**
 * Be as any other process of root's, and not as slurmstepd, to the kernel that runs out of memory;
 * gain no rights by executing anything; leave no core files.
 */
void process_restrict(void);

/** Go to the CPUs and the priority that the site wants, as far as that can be done. */
void process_schedule(const struct step *step);

#endif
