/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_CONFIGURE_H
#define SPANK_APAPI_CONFIGURE_H
#include <slurm/spank.h>

#include "channel/message.h"
#include "choice.h"
#include "step.h"

/** What the user or the site wants to measure. */
struct spank_apapi_request {
    const char *components; /* "": what is available */
    const char *rules;      /* a packet; NULL: none */
};

/**
 * Append everything that apapi-sampler needs to know about the site, the request and the step. In
 * slurmstepd only.
 * @return whether the sampler will write files, or watch thresholds, for the user; its last message
 * is about these then.
 */
bool spank_apapi_configure(spank_t spank, const struct spank_apapi_choice *choice,
                           const struct spank_apapi_step *step,
                           const struct spank_apapi_request *request, struct message *message);

/** Note which limits --apapi-overflow has, before anything asks for them. In slurmstepd only. */
void spank_apapi_configure_scopes(spank_t spank, struct spank_apapi_choice *choice);

#endif
