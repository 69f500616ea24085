/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_BATCH_H
#define SYNC_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "sync/dbd.h"
#include "sync/found.h"

/** What to do. */
struct sync_options {
    const char *dir;     /* accounting folder */
    const char *cluster; /* of the records; NULL: every cluster */
    int64_t now_ns;      /* [ns since 1970] */
    int64_t since_ns;    /* records that ended then or later; 0: new since the last run */
    const uint32_t *jobs;
    size_t job_count; /* 0: all */
    enum dbd_field field;
    bool dry_run, verbose;
};

/** The result. */
struct sync_outcome {
    size_t jobs;    /* with records */
    size_t changed; /* changed comments; with dry_run: that would change */
    size_t running; /* not ended yet */
    size_t unknown; /* not in slurmdbd */
    char unknown_jobs[128];
    struct found waiting; /* running and unknown jobs */
};

/** Write some jobs of one cluster, sorted by number, to slurmdbd.
 * 0; -1 with errno. */
int sync_batch(const struct sync_options *options, const struct found_job *jobs, size_t count,
               struct sync_outcome *outcome, struct apapi_error *err);

#endif
