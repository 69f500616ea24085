/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_CLAIMS_H
#define APAPI_CLI_CLAIMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"

/*
 * That a job is part of an array or of a heterogeneous job is often the word of its user, who may
 * name anybody's job. Whose job it is in truth is known: all parts are one user's.
 */

#define CLAIMS_OWNERS_MAX 16

/** Who has the job with one number, in each cluster. */
struct claims {
    uint32_t job;
    struct claims_owner {
        char cluster[sizeof((struct apapi_identity *)0)->cluster];
        uint32_t uid;
        int rank; /* how good the reason is to believe it */
    } owners[CLAIMS_OWNERS_MAX];
    size_t count;
};

/** Learn from a job that was found under the number. */
void claims_learn(struct claims *claims, const struct apapi_identity *id);

/** @return whether a job that was found under the number is, or may be, part of it. */
bool claims_hold(const struct claims *claims, const struct apapi_identity *id);

#endif
