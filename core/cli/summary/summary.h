/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUMMARY_SUMMARY_H
#define APAPI_SUMMARY_SUMMARY_H
#include "cli/job/job_view.h"
#include "cli/records/input_options.h"
#include "cli/slurm/sacct.h"

/** What jobs have used with one program. NaN: not known. */
struct summary_median {
    size_t jobs;
    double energy_j, node_w; /* medians: energy; mean power of a node */
};

/** The job's program, and other jobs' with the same name. */
struct summary_program {
    char name[APAPI_TEXT_SIZE]; /* "": not known */
    bool of_job; /* it is the name of the job: it has no steps but batch and extern */
    double energy_j, node_w;
    struct summary_median user, site; /* jobs 0: none, or not looked for */
};

/** A job in a few lines. NaN, "", 0: not known. */
struct summary {
    struct show show; /* its records; count 0: there are none to read */
    char job_id[64];
    const struct apapi_identity *id; /* of a record; NULL: none */
    struct sacct_job slurm;          /* job 0: Slurm's accounting does not say, or not in time */
    double energy_j, uncertainty_j, mean_w, node_w, measured;
    double nodes, cores, elapsed_s;
    double recorded_s; /* the time that `measured` is a share of, on each node */
    double cpu_s, core_s;
    double gpus, gpu_share; /* of the time in which a kernel ran */
    struct summary_program program;
};

/**
 * Compare the job's program with that of other jobs.
 * @param input        where these are read; whose are left out is up to it
 * @param deadline_ns  CLOCK_MONOTONIC: if they are not read then, nothing is known of them
 */
void summary_compare(struct summary *summary, const struct report_input *input,
                     uint64_t deadline_ns);

/** Work out the rest from records and Slurm's accounting. */
void summary_work_out(struct summary *summary);

/** Print it. The second one returns 0, or -1 with errno ENOMEM. */
void summary_print_text(const struct summary *summary);
int summary_print_json(const struct summary *summary);

#endif
