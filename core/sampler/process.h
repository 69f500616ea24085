/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PROCESS_H
#define SAMPLER_PROCESS_H
#include <stdbool.h>

#include "sampler/step.h"

/**
 * Reset the OOM score, write no core files, set the limits, and drop capabilities that are never
 * needed. Call it before there are threads.
 */
void process_restrict(void);

/**
 * Drop the capabilities for preparing, too, and gain no rights by exec from now on: the processes
 * of the user run, and the priority is set.
 * @param ends_others  whether there are processes of the user that may have to be killed
 */
void process_settle(bool ends_others);

/** Keep only what a process needs that sends signals to the user's and becomes the user. */
void process_settle_actor(void);

/** Apply the site's CPUs and priority as far as possible. */
void process_schedule(const struct step *step);

#endif
