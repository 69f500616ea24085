/* SPDX-License-Identifier: BSD-3-Clause */
#include "sync/found.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int found_compare(const void *left, const void *right)
{
    const struct found_job *a = left, *b = right;
    int order = strcmp(a->cluster, b->cluster);

    return order ? order : (a->job > b->job) - (a->job < b->job);
}

static void found_join(struct found_job *job, const struct found_job *again)
{
    job->records += again->records;
    if (again->since_s < job->since_s) {
        job->since_s = again->since_s;
    }
}

void found_tidy(struct found *found)
{
    size_t kept = 0;

    if (!found->jobs || found->count == 0) {
        return;
    }
    qsort(found->jobs, found->count, sizeof *found->jobs, found_compare);
    for (size_t i = 1; i < found->count; i++) {
        if (found_compare(&found->jobs[kept], &found->jobs[i]) == 0) {
            found_join(&found->jobs[kept], &found->jobs[i]);
        } else {
            found->jobs[++kept] = found->jobs[i];
        }
    }
    found->count = kept + 1;
}

static int found_make_room(struct found *found)
{
    found_tidy(found);
    return found->jobs && found->count < found->room / 2
               ? 0
               : array_add(&found->jobs, found->room, &found->room, sizeof *found->jobs);
}

int found_add(struct found *found, const struct found_job *job)
{
    struct found_job *last = found->count ? &found->jobs[found->count - 1] : NULL;

    if (last && found_compare(last, job) == 0) {
        found_join(last, job);
        return 0;
    }
    if ((!found->jobs || found->count == found->room) && found_make_room(found)) {
        return -1;
    }
    found->jobs[found->count++] = *job;
    return 0;
}

void found_free(struct found *found)
{
    free(found->jobs);
    *found = (struct found){0};
}
