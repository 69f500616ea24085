/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_RUNS_H
#define SYNC_RUNS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/namelist.h"
#include "sync/dbd.h"

/** All that slurmdbd knows of some jobs. Zeroed before the first. */
struct runs {
    struct dbd_run *runs;
    size_t count, room;
    struct namelist comments; /* of the runs */
};

/** A job: its runs together. */
struct runs_job {
    const struct dbd_run *latest; /* NULL: slurmdbd does not know it */
    int64_t start_s;              /* of the first run [s since 1970] */
    double node_s;                /* of all runs, the time of each times its nodes [s] */
};

/** Add a copy of a run; for a struct dbd_sink. */
int runs_add(const struct dbd_run *run, void *runs);

/** Sort by job and time. */
void runs_sort(struct runs *runs);

/**
 * The job with this number that ran last. Numbers come again when a cluster begins anew, so a run
 * belongs to it only if it is the same user's and ended less than a day before the next one was
 * submitted.
 */
struct runs_job runs_find(const struct runs *runs, uint32_t job);

/** Free what it owns. */
void runs_free(struct runs *runs);

#endif
