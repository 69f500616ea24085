/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of libapapi to the sum of one job. */
#include "apapi/job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sum/sum.h"

struct apapi_job *apapi_job_create(void)
{
    return calloc(1, sizeof(struct apapi_job));
}

void apapi_job_destroy(struct apapi_job *job)
{
    int saved = errno;

    if (job) {
        free(job->entries.list);
        sum_free(&job->store);
        free(job);
    }
    errno = saved;
}

int apapi_job_add(struct apapi_job *job, const struct apapi_record *record)
{
    return sum_add(&job->store, record, NULL);
}

int apapi_job_total(struct apapi_job *job, struct apapi_job_total *total)
{
    free(job->entries.list);
    job->entries = (struct sum_entries){NULL, 0};
    if (sum_gather(&job->store, NULL, job->store.piece_count, &job->entries)) {
        return -1;
    }
    sum_of_job(&job->entries);
    return sum_total(&job->store, &job->entries, total);
}

double apapi_job_measured(const struct apapi_job_total *total, size_t nodes)
{
    double node_s =
        nodes > 0 ? (double)nodes * ((double)total->elapsed_ns / NS_PER_S) : total->node_s;

    return node_s > 0 ? fmin((double)total->covered_ns / NS_PER_S / node_s, 1) : NAN;
}

static int compare_node(const void *name, const void *element)
{
    return strverscmp(name, ((const struct sum_entry *)element)->node);
}

bool apapi_job_has_node(const struct apapi_job *job, const char *node)
{
    return job->entries.count > 0 && bsearch(node, job->entries.list, job->entries.count,
                                             sizeof *job->entries.list, compare_node);
}

const char *apapi_job_incomplete(const struct apapi_job *job, size_t number, const char **node)
{
    for (size_t i = 0; i < job->entries.count; i++) {
        const struct sum_entry *entry = &job->entries.list[i];

        if (entry->piece->reason != POOL_NONE && number-- == 0) {
            *node = entry->node;
            return entry->step;
        }
    }
    return NULL;
}
