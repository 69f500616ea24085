/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SYNC_JOBS_H
#define APAPI_SYNC_JOBS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/job.h"
#include "base/json.h"
#include "base/names.h"

/** A job with records. */
struct found_job {
    char cluster[64]; /* "": not known */
    uint32_t job;
    size_t records;  /* number found */
    int64_t since_s; /* when the job began to wait [s since 1970] */
};

/** A set of jobs. All zero at the start. */
struct found {
    struct pool keys;
    struct found_job *jobs;
    size_t count, room;
};

/**
 * Add a job, or add its records to those of a known job. A number that no job of slurmctld has, as
 * of `srun -Z`, is left out.
 * @return 0; -1 with errno ENOMEM.
 */
int found_add(struct found *found, const struct found_job *job);

/** Sort by cluster and number, after the last one was added. */
void found_sort(struct found *found);

/** Free all that `found` owns. */
void found_free(struct found *found);

/** One run of a job; a job that was requeued or resized has several. */
struct dbd_run {
    uint32_t job, uid;
    uint32_t array_job, array_task;   /* array_job 0: no task of an array */
    int64_t submit_s, start_s, end_s; /* [s since 1970]; 0: not yet */
    bool ended;                       /* the run has ended, and slurmdbd has all data of it */
    const char *comment;              /* valid during the call only */
};

/** The runs of some jobs in slurmdbd. All zero at the start. */
struct runs {
    struct dbd_run *runs;
    size_t count, room;
    struct namelist comments; /* of the runs */
};

/** Add a copy of a run. @return 0; -1 with errno ENOMEM. */
int runs_add(struct runs *runs, const struct dbd_run *run);

/** A job with all its runs. */
struct runs_job {
    const struct dbd_run *latest; /* NULL: slurmdbd does not know the job */
    int64_t start_s;              /* of the first run [s since 1970] */
};

/** Sort by job and time. */
void runs_sort(struct runs *runs);

/**
 * Find the latest job with this number. A number is used again when job numbers wrap or start
 * again. A run belongs to the job only if it has the same user and ended less than a day before the
 * next one was submitted.
 */
struct runs_job runs_find(const struct runs *runs, uint32_t job);

/** Free all that `runs` owns. */
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

/*
 * The result of earlier runs: how far each accounting file was read, and the jobs that have records
 * but no comment yet. Kept as JSON in the accounting folder.
 */

#define STATE_REACH_NS (7 * INT64_C(86400000000000)) /* a record may arrive this late [ns] */

struct state {
    bool damaged;                      /* the file exists but is damaged */
    int64_t since_ns;                  /* records that ended earlier are ignored [ns since 1970] */
    struct tree tree;                  /* the file; all zero: a first run */
    const struct tree_node *files;     /* {"2026-11-21/n1.jsonl": bytes}; NULL: none */
    const struct tree_node *waiting;   /* [{"cluster": "mars", "job": 17, "since": s since 1970}] */
    const struct tree_node *next_file; /* the entry behind the file that was asked for last */
    struct json_writer json;           /* the new state: files, then waiting jobs */
    bool waits;                        /* `json` has begun the waiting jobs */
};

/**
 * Read the state `name` in the folder. If there is none, start with the state of a first run, which
 * takes records from `first_ns` on.
 * @return 0; -1 with errno ENOMEM, or of reading. Call state_free() in both cases.
 */
int state_load(struct state *state, const char *dir, const char *name, int64_t first_ns,
               struct apapi_error *err);

/** Save the noted files and jobs, once. @return 0; -1 with errno of the call that failed. */
int state_save(struct state *state, const char *dir, const char *name, int64_t now_ns,
               struct apapi_error *err);

/** Free all that `state` owns. */
void state_free(struct state *state);

/** @return how far a file ("2026-11-21/n1.jsonl") has been read [bytes]. */
uint64_t state_offset(struct state *state, const char *file);

/** Note, once and before any job, how far a file has been read. */
void state_note(struct state *state, const char *file, uint64_t offset);

/** Keep a job for the next run. */
void state_wait(struct state *state, const char *cluster, uint32_t job, int64_t since_s);

/**
 * Lock the folder: one run at a time. Waits for other runs.
 * @return a descriptor, close it at the end; -1 with errno of the call that failed.
 */
int state_lock(const char *dir, struct apapi_error *err);

#endif
