/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_REPORT_SLURM_H
#define APAPI_REPORT_REPORT_SLURM_H
#include "cli/records/input.h"
#include "cli/report/report_print.h"
#include "cli/slurm/sacct.h"

/*
 * Rows of jobs from Slurm's accounting, where `apapi sync` has written their energy: for users who
 * can read no records. Slurm decides whose jobs they see.
 */

/** A row: a job, or all those of a group. */
struct report_slurm_sum {
    struct report_row row;         /* its texts are those of jobs */
    const struct sacct_job *first; /* of its jobs */
    double busy_s, node_s, measured_s;
};

struct report_slurm {
    const struct report_input *input;
    const struct report_ledger *ledger; /* its groups and states */
    struct sacct_job *jobs;             /* wanted jobs with an energy */
    size_t count, room;
    struct report_slurm_sum *rows;
    size_t row_count;
};

/**
 * Read the jobs that `input` wants. Call report_slurm_free() in all cases.
 * @return 0; -1 with errno of sacct_read(), EINVAL (a time)
 */
int report_slurm_read(struct report_slurm *slurm, struct apapi_error *err);

/**
 * Make the rows from the jobs.
 * @param sort  the greatest first. NULL: leave them in Slurm's order
 * @return 0; -1 with errno ENOMEM
 */
int report_slurm_rows(struct report_slurm *slurm, const struct report_field *sort);

/** Free what it owns. */
void report_slurm_free(struct report_slurm *slurm);

#endif
