/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_APAPI_STEP_H
#define SPANK_APAPI_STEP_H
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>

#include "channel/channel.h"
#include "helpers.h"

#define SPANK_APAPI_NAME_SIZE 256 /* bytes of a program's or node's name with its NUL */
#define SPANK_APAPI_STEP_SIZE 16  /* bytes of a step's name with its NUL */

/** Which step on which node. */
struct spank_apapi_step {
    uint32_t job;
    uint32_t step;
    bool batch;
    char step_name[SPANK_APAPI_STEP_SIZE]; /* "0", "batch", "interactive" */
    char node[SPANK_APAPI_NAME_SIZE];
};

/** Write the step's name: "0", "batch", "interactive", "extern". */
void spank_apapi_step_name(uint32_t step, char name[SPANK_APAPI_STEP_SIZE]);

/** Write the basename of the step's program; "" if not known. */
void spank_apapi_step_program(spank_t spank, char name[SPANK_APAPI_NAME_SIZE]);

/** Ask Slurm for the step. In slurmstepd only. */
void spank_apapi_step_read(spank_t spank, struct spank_apapi_step *step);

/** A spank_apapi_look_f for the step's environment. In slurmstepd only. */
bool spank_apapi_look(void *spank, const char *variable, char *value, size_t size);

/** Note which limits --apapi-overflow has, before anything asks for them. In slurmstepd only. */
void spank_apapi_step_scopes(spank_t spank);

/** The measurement that the user or the site requests. */
struct spank_apapi_request {
    const char *components; /* "": what is available */
    const char *rules;      /* a packet; NULL: none */
    char *const *words;     /* of plugstack.conf */
    int word_count;
};

/**
 * Append everything that apapi-sampler needs to know about the site, the request and the step. In
 * slurmstepd only.
 * @return whether the sampler will write files, or watch thresholds, for the user; its last message
 * is about these then.
 */
bool spank_apapi_step_configure(spank_t spank, const struct spank_apapi_step *step,
                                const struct spank_apapi_request *request, struct message *message);

#endif
