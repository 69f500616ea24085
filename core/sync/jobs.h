/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SYNC_JOBS_H
#define APAPI_SYNC_JOBS_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "base/names.h"
#include "sync/dbd.h"

/** A job with records. */
struct found_job {
    char cluster[64]; /* "": not known */
    uint32_t job;
    size_t records;  /* found */
    int64_t since_s; /* waiting since then [s since 1970] */
};

/** A set of jobs. All zero at the start. */
struct found {
    struct found_job *jobs;
    size_t count, room;
};

/** Add a job. Duplicates are allowed. 0; -1 with ENOMEM. */
int found_add(struct found *found, const struct found_job *job);

/** Sort by cluster and number, and join duplicates: their records are added up. */
void found_tidy(struct found *found);

/** Free what it owns. */
void found_free(struct found *found);

/** The runs of some jobs in slurmdbd. All zero at the start. */
struct runs {
    struct dbd_run *runs;
    size_t count, room;
    struct namelist comments; /* of the runs */
};

/** A job with all its runs. */
struct runs_job {
    const struct dbd_run *latest; /* NULL: slurmdbd does not know it */
    int64_t start_s;              /* of the first run [s since 1970] */
};

/** Add a copy of a run. For struct dbd_sink. */
int runs_add(const struct dbd_run *run, void *runs);

/** Sort by job and time. */
void runs_sort(struct runs *runs);

/**
 * Find the latest job with this number. A number is used again when job numbers wrap or start
 * again. A run belongs to the job only if it has the same user and ended less than a day before the
 * next one was submitted.
 */
struct runs_job runs_find(const struct runs *runs, uint32_t job);

/** Free what it owns. */
void runs_free(struct runs *runs);

#define COMMENT_MAX 65535    /* bytes that fit into slurmdbd's table */
#define COMMENT_OWN_SIZE 300 /* bytes of APAPI's part, with the NUL */

/**
 * Format APAPI's part of the comment: "apapi":{"v":1,"energy_j":1440.12,"uncertainty_j":2.51,...},
 * without outer braces.
 */
void comment_own(char own[COMMENT_OWN_SIZE], const struct apapi_job_total *total);

/**
 * Put `own` into an existing comment. Everything else in it stays byte for byte:
 *   empty          becomes {"apapi":{...}}
 *   a JSON object  gets or replaces the key "apapi"
 *   anything else  is kept as text, followed by " {"apapi":{...}}"
 * @param there   NULL: empty
 * @param result  set on success only; free it with free()
 * @return 0; -1 with errno EMSGSIZE (longer than COMMENT_MAX), ENOMEM.
 */
int comment_put(const char *there, const char *own, char **result);

#endif
