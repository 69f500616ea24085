/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which records belong to one job: a heterogeneous job has a number for each component. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/claims.h"
#include "cli/job/job_view.h"
#include "record/record.h"
#include "sum/timing.h"

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

static int show_join_compare_ends(const void *left, const void *right)
{
    const struct apapi_record *a = left, *b = right;

    return COMPARE(record_end_ns(&a->measurement), record_end_ns(&b->measurement));
}

static bool is_same_user(const struct apapi_identity *a, const struct apapi_identity *b)
{
    return a->uid == b->uid || a->uid == APAPI_UNKNOWN || b->uid == APAPI_UNKNOWN;
}

void show_drop_earlier(struct show *show, uint32_t job, const char *command)
{
    const struct apapi_identity *latest = NULL;
    int64_t start_ns = 0;
    size_t count = show->count, first = count, kept;

    qsort(show->records, count, sizeof *show->records, show_join_compare_ends);
    for (size_t i = count; i-- > 0;) {
        struct apapi_record *record = &show->records[i];
        const struct apapi_measurement *m = &record->measurement;
        bool own = record->id.job == job;

        if (own && latest && strcmp(latest->cluster, record->id.cluster) == 0 &&
            (!is_same_user(latest, &record->id) ||
             start_ns - record_end_ns(m) >= TIMING_SAME_JOB_NS)) {
            apapi_record_clear(record);
            continue;
        }
        if (own && (!latest || m->start_unix_ns < start_ns)) {
            start_ns = m->start_unix_ns;
        }
        show->records[--first] = *record;
        latest = own && !latest ? &show->records[first].id : latest;
    }
    kept = count - first;
    memmove(show->records, show->records + first, kept * sizeof *show->records);
    show->count = kept;
    if (count > kept) {
        fprintf(stderr, "apapi %s: %zu record%s left out: the number was an earlier job's, too\n",
                command, count - kept, count - kept == 1 ? "" : "s");
    }
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
