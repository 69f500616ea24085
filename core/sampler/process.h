/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H
#include "sampler/step.h"

/** Reset the OOM score, gain no rights by exec, and write no core files. */
void process_restrict(void);

/** Apply the site's CPUs and priority as far as possible. */
void process_schedule(const struct step *step);

#endif
