/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H
#include <stdbool.h>

#include "sampler/step.h"

/**
 * Reset the OOM score, gain no rights by exec, write no core files, set the limits, and drop
 * capabilities that are never needed. Call it before there are threads.
 */
void process_restrict(void);

/**
 * Drop the capabilities for preparing, too: the processes of the user run, and the priority is set.
 * @param ends_others  whether there are processes of the user that may have to be killed
 */
void process_settle(bool ends_others);

/** Apply the site's CPUs and priority as far as possible. */
void process_schedule(const struct step *step);

#endif
