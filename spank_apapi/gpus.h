/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_GPUS_H
#define SPANK_APAPI_GPUS_H
#include <slurm/spank.h>

#include "channel/message.h"
#include "step.h"

/**
 * Append the GPUs of the step on this node: `gpus`, a list in Slurm's form, "none", or nothing if
 * Slurm does not manage GPUs. In slurmstepd only.
 */
void spank_apapi_gpus_describe(spank_t spank, const struct spank_apapi_step *step,
                               struct message *message);

#endif
