/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_STEP_H
#define SAMPLER_STEP_H
#include <limits.h>
#include <stdbool.h>

#include "apapi/interval.h"
#include "apapi/record.h"
#include "channel/message.h"

/** What the plugin says about the step. */
struct step {
    struct apapi_identity id;
    char components[APAPI_TEXT_SIZE]; /* "": the default */
    struct apapi_intervals intervals;
    char acct_dir[PATH_MAX]; /* "": no accounting file */
    bool wants_table;
};

/** Take the step out of a configuration message. 0; -1 with errno EINVAL and the key in `err`. */
int step_parse(const struct message *message, struct step *step, struct apapi_error *err);

#endif
