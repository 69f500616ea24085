/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_GPUS_H
#define SPANK_APAPI_GPUS_H
#include <slurm/spank.h>

#include "channel/message.h"
#include "step.h"

/**
 * Append which GPUs of the node the step has: `gpus`, a list as Slurm gives it, "none", or nothing
 * where Slurm does not manage GPUs. In slurmstepd only.
 */
void spank_apapi_gpus_describe(spank_t spank, const struct spank_apapi_step *step,
                               struct message *message);

#endif
