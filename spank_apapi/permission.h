/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_PERMISSION_H
#define SPANK_APAPI_PERMISSION_H
#include <slurm/spank.h>
#include <stdbool.h>

#include "choice.h"
#include "step.h"

/* What the site allows, decided in slurmstepd. Both wait for start_timeout together, at most. */

/** @return whether the step's user may ask for measurements; who cannot be told may not. */
bool spank_apapi_may_ask(spank_t spank, const struct config *config, struct spank_apapi_step *step);

/** Look up step->user if a name of a file that was chosen needs it. */
void spank_apapi_name_user(spank_t spank, const struct spank_apapi_choice *choice,
                           struct spank_apapi_step *step);

/**
 * May the step's partition be measured? In a batch step it is Slurm's word; elsewhere SPANK has no
 * other than the environment's.
 * @param disabled  whether nobody is to hear of it: set, or left as it is
 * @return 0; -1 with errno EPERM, `err` says why.
 */
int spank_apapi_may_measure(spank_t spank, const struct config *config, bool *disabled,
                            struct apapi_error *err);

#endif
