/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SLURM_SACCT_H
#define APAPI_SLURM_SACCT_H
#include "apapi/error.h"
#include "cli/slurm/sacct_line.h"

/*
 * Jobs by Slurm's accounting, through sacct(1): as the caller, so that Slurm decides what
 * he may see. A program of its own, because apapi does not link Slurm's library.
 */

struct sacct_query {
    const char *jobs, *users, *clusters; /* lists as sacct takes them; NULL: no limit */
    int64_t from_s, to_s;                /* [s since 1970]; 0: none */
    bool steps;                          /* read those, too, for the CPU time */
    uint64_t deadline_ns;                /* CLOCK_MONOTONIC */
};

/** @return 0 to continue; -1 with errno to stop. The job is valid during the call. */
typedef int (*sacct_f)(const struct sacct_job *job, void *context);

/**
 * Pass the jobs to `take`.
 * @return 0; -1 with errno ENOENT (no sacct here), ETIMEDOUT, EIO (sacct has failed: `err` has its
 *         first line), ENOMEM, or that of `take`
 */
int sacct_read(const struct sacct_query *query, sacct_f take, void *context,
               struct apapi_error *err);

#endif
