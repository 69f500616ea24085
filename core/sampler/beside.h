/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_BESIDE_H
#define SAMPLER_BESIDE_H
#include <stdbool.h>

#include "action/jobs.h"

/*
 * What is done beside a task, as its user: apapi-sampler executes itself, so that no memory of root
 * is left in the process that looks at what belongs to the user.
 */

/** Execute apapi-sampler for it. Returns on failure. */
void beside_become(const struct job_launch *launch);

/** @return whether a command line is that of beside_become(). */
bool beside_is_asked(int argc, char **argv);

/** Do it. @return the exit status, if no command is executed. */
int beside_run(char **argv);

#endif
