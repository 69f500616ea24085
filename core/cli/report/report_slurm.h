/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_REPORT_SLURM_H
#define APAPI_REPORT_REPORT_SLURM_H
#include "cli/records/input_options.h"
#include "cli/report/report_print.h"
#include "cli/slurm/sacct.h"

/*
 * Rows of jobs from Slurm's accounting, where `apapi sync` has written their energy: for users who
 * can read no records. Slurm decides whose jobs they see.
 */

struct report_slurm {
    const struct report_input *input;
    struct sacct_job *jobs; /* wanted jobs with an energy */
    size_t count, room;
};

/**
 * Read the jobs that `input` wants. Call report_slurm_free() in all cases.
 * @return 0; -1 with errno of sacct_read(), EINVAL (a time)
 */
int report_slurm_read(struct report_slurm *slurm, struct apapi_error *err);

/** Sort by the field, greatest first. NULL: leave them in Slurm's order. */
void report_slurm_sort(struct report_slurm *slurm, const struct report_field *field);

/** The row of a job; its texts are the job's. */
void report_slurm_row(const struct sacct_job *job, struct report_row *row);

/** Free what it owns. */
void report_slurm_free(struct report_slurm *slurm);

#endif
