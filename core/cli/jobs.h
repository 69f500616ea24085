/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_JOBS_H
#define APAPI_CLI_JOBS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "sum/members.h"

/** Jobs and steps in a user's list: "17,18.batch,19_3,20_*,21+1.0". */
struct job_list {
    struct job_request *requests;
    uint32_t *jobs; /* their numbers: of jobs, arrays or heterogeneous jobs */
    size_t count;
};

/**
 * @param text  NULL: any job
 * @return 0; -1 with errno EINVAL, ENOMEM. Call job_list_free() in both cases.
 */
int job_list_parse(const char *text, struct job_list *list, struct apapi_error *err);

/**
 * As for sacct, the number of an array selects its tasks, that of a heterogeneous job its
 * components. An empty list selects all jobs.
 */
bool job_list_has(const struct job_list *list, const struct apapi_identity *id);

/** @return whether they may belong to the same job; extern steps may not know their cluster. */
bool job_is_same(const struct apapi_identity *a, const struct apapi_identity *b);

/** Free what it owns. */
void job_list_free(struct job_list *list);

/** @return whether the list names the user by name or, as for sacct, by number. NULL: any user */
bool user_list_has(const char *users, const struct apapi_identity *id);

#endif
