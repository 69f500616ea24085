/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which records belong to one job: a heterogeneous job has a number for each component. */
#include <stdio.h>
#include <string.h>

#include "cli/claims.h"
#include "cli/job/job_view.h"

static bool same_cluster(const struct show *show)
{
    for (size_t i = 1; i < show->count; i++) {
        if (strcmp(show->records[i].id.cluster, show->records[0].id.cluster) != 0) {
            return false;
        }
    }
    return true;
}

static bool same_number(const struct show *show)
{
    for (size_t i = 1; i < show->count; i++) {
        if (show->records[i].id.job != show->records[0].id.job) {
            return false;
        }
    }
    return true;
}

static bool is_heterogeneous(const struct show *show)
{
    uint32_t job = show->records[0].id.het_job;

    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->het_job != job || id->het_offset == APAPI_UNKNOWN) {
            return false;
        }
    }
    return job != APAPI_UNKNOWN;
}

/* In Slurm's form after the job: step 0 of component 1 is "+1.0". */
static void name_steps(struct show *show)
{
    for (size_t i = 0; i < show->count; i++) {
        struct apapi_identity *id = &show->records[i].id;
        char step[20];

        snprintf(step, sizeof step, "%.19s", id->step);
        snprintf(id->step, sizeof id->step, "+%u.%s", id->het_offset, step);
    }
}

bool show_join(struct show *show)
{
    if (!same_cluster(show)) {
        return false;
    }
    if (same_number(show)) {
        return true;
    }
    show->heterogeneous = is_heterogeneous(show);
    if (show->heterogeneous) {
        name_steps(show);
    }
    return show->heterogeneous;
}

size_t show_drop_strangers(struct show *show, uint32_t job)
{
    struct claims claims = {.job = job};
    size_t kept = 0, count = show->count;

    for (size_t i = 0; i < count; i++) {
        claims_learn(&claims, &show->records[i].id);
    }
    for (size_t i = 0; i < count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->job == job || claims_hold(&claims, id)) {
            show->records[kept++] = show->records[i];
        } else {
            apapi_record_clear(&show->records[i]);
        }
    }
    show->count = kept;
    show_forget_strangers(show);
    return count - kept;
}
