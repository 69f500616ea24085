/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_PLACE_H
#define SAMPLER_PLACE_H
#include "sampler/step.h"

/** Go to the CPUs and the priority that the site wants, as far as that can be done. */
void place_self(const struct step *step);

#endif
