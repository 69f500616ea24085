/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_PERMISSION_H
#define SPANK_APAPI_PERMISSION_H
#include <slurm/spank.h>
#include <stdbool.h>

#include "choice.h"
#include "step.h"

/* The site's permissions, decided in slurmstepd. Together both wait for start_timeout at most. */

/** @return whether the step's user may ask for measurements. An unknown user may not. */
bool spank_apapi_may_ask(spank_t spank, const struct config *config, struct spank_apapi_step *step);

/** Look up step->user if a chosen file name needs it. */
void spank_apapi_name_user(spank_t spank, const struct spank_apapi_choice *choice,
                           struct spank_apapi_step *step);

/**
 * Check whether the step's partition may be measured. In a batch step the partition comes from
 * Slurm, in other steps from the environment only.
 * @param disabled  result: set if the user should get no message; otherwise unchanged
 * @return 0; -1 with errno EPERM, `err` says why.
 */
int spank_apapi_may_measure(spank_t spank, const struct config *config, bool *disabled,
                            struct apapi_error *err);

#endif
