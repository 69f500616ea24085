/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_RUNS_H
#define SYNC_RUNS_H
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "sync/dbd.h"

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

#endif
