/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SHOW_FORMS_H
#define APAPI_SHOW_FORMS_H
#include "cli/job/job.h"
#include "cli/records/input.h"
#include "config/config.h"

/* `apapi show`: one job in full, in a few lines, or one step as srun prints it. */

struct show_options {
    struct query query; /* its command is the word that was given */
    struct show show;   /* the job's records */
    bool json, brief;
    const char *wait;
    uint64_t wait_ns;          /* brief: for the energy of the job */
    enum config_format format; /* of a step; CONFIG_NONE: not given */
};

/* Each returns the exit status. */

/** Print a job in a few lines. */
int show_brief(struct show_options *options);

/** Print the step of query->files as srun does; query->nodes are all of its nodes. */
int show_step(struct query *query, enum config_format format);

#endif
