/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JOBS_H
#define APAPI_CLI_JOBS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "sum/job_id.h"

/** Jobs and steps as people name them: "17,18.batch,19_3,20_*,21+1.0". */
struct job_list {
    struct job_request *requests;
    uint32_t *jobs; /* their numbers, be it of a job, an array or a heterogeneous job */
    size_t count;
};

/**
 * @param text  NULL: any job
 * @return 0; -1 with errno EINVAL, ENOMEM. To be freed in both cases.
 */
int job_list_parse(const char *text, struct job_list *list, struct apapi_error *err);

/**
 * As for sacct, an array's number stands for its tasks, a heterogeneous job's for its components.
 * An empty list has every job.
 */
bool job_list_has(const struct job_list *list, const struct apapi_identity *id);

/** @return whether they may be of one job; extern steps may not know their cluster. */
bool job_is_same(const struct apapi_identity *a, const struct apapi_identity *b);

/** Free what it owns. */
void job_list_free(struct job_list *list);

/** @return whether users are named by name or, as for sacct, by number. NULL: any */
bool user_list_has(const char *users, const struct apapi_identity *id);

#endif
