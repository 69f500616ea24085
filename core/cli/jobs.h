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

/** @return whether the word is such a list. */
bool job_is_named(const char *word);

/** Free what it owns. */
void job_list_free(struct job_list *list);

/** @return whether the list names the user by name or, as for sacct, by number. NULL: any user */
bool user_list_has(const char *users, const struct apapi_identity *id);

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
