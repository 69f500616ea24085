/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/claims.h"

#include <stdio.h>
#include <string.h>

enum { CLAIMED = 1, NUMBERED, VERIFIED, OWN };

/* Job numbers, and the array if `verified`, come from Slurm. */
static int rank_of(const struct claims *claims, const struct apapi_identity *id)
{
    if (id->job == claims->job) {
        return OWN;
    }
    if (id->array_job == claims->job && id->verified) {
        return VERIFIED;
    }
    /* Slurm numbers the components consecutively */
    if (id->het_job == claims->job && id->job - id->het_job == id->het_offset) {
        return NUMBERED;
    }
    return CLAIMED;
}

static struct claims_owner *claims_find_owner(struct claims *claims, const char *cluster)
{
    for (size_t i = 0; i < claims->count; i++) {
        if (strcmp(claims->owners[i].cluster, cluster) == 0) {
            return &claims->owners[i];
        }
    }
    return NULL;
}

void claims_learn(struct claims *claims, const struct apapi_identity *id)
{
    struct claims_owner *owner = claims_find_owner(claims, id->cluster);
    int rank = rank_of(claims, id);

    if (!owner && claims->count < CLAIMS_OWNERS_MAX) {
        owner = &claims->owners[claims->count++];
        snprintf(owner->cluster, sizeof owner->cluster, "%s", id->cluster);
        owner->rank = 0;
    }
    if (owner && rank > owner->rank) {
        owner->uid = id->uid;
        owner->rank = rank;
    }
}

bool claims_hold(const struct claims *claims, const struct apapi_identity *id)
{
    bool owned = false;

    for (size_t i = 0; i < claims->count; i++) {
        const struct claims_owner *owner = &claims->owners[i];
        bool same = !*id->cluster || strcmp(owner->cluster, id->cluster) == 0;

        if (same && owner->rank > CLAIMED) {
            owned = true;
            if (owner->uid == id->uid || id->uid == APAPI_UNKNOWN) {
                return true;
            }
        }
    }
    return !owned;
}
