/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_CLAIMS_H
#define APAPI_CLI_CLAIMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"

/*
 * The membership of a job in an array or heterogeneous job often comes from its user, who may name
 * any job. The owner of each job is known: all parts must belong to the same user.
 */

#define CLAIMS_OWNERS_MAX 16

/** The owners of the job with one number, in each cluster. */
struct claims {
    uint32_t job;
    struct claims_owner {
        char cluster[sizeof((struct apapi_identity *)0)->cluster];
        uint32_t uid;
        int rank; /* reliability of the source */
    } owners[CLAIMS_OWNERS_MAX];
    size_t count;
};

/** Learn from a job found under the number. */
void claims_learn(struct claims *claims, const struct apapi_identity *id);

/** @return whether a job found under the number is, or may be, part of it. */
bool claims_hold(const struct claims *claims, const struct apapi_identity *id);

#endif
