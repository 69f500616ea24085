/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_SHARE_H
#define SAMPLER_SHARE_H
#include "sampler/step.h"

/**
 * Put into a record what the step is given of its node's energy, if the site or the user wants it:
 * the node sampler knows it, or the step has the whole node. Waits for
 * it for SHARE_END_WAIT_NS at most.
 */
void share_finish(const struct step *step, struct apapi_record *record);

#endif
