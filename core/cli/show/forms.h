/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SHOW_FORMS_H
#define APAPI_SHOW_FORMS_H
#include "cli/job/job.h"
#include "cli/records/input.h"
#include "cli/slurm/sacct.h"
#include "config/config.h"

/* `apapi show`: one job in full, in a few lines, or one step as srun prints it. */

struct show_options {
    struct report_input input; /* its command is the word that was given */
    bool json, brief;
    bool alone; /* brief: not compared with other jobs */
    const char *limit, *wait;
    uint64_t limit_ns, wait_ns; /* brief: for Slurm's accounting; for the energy of the job */
    enum config_format format;  /* of a step; CONFIG_NONE: not given */
};

/** Print a job in a few lines; input.from_text is of the jobs to compare with. @return exit status
 */
int show_brief(const struct show_options *options);

/** Print the step of input->files as srun does; input->nodes are all of its nodes. @return exit
 * status */
int show_step(const struct report_input *input, enum config_format format);

/** Energy of jobs with one program. NaN: not known. */
struct brief_median {
    size_t jobs;
    double energy_j, node_w; /* medians: energy; mean power of a node */
};

/** The job's program, and other jobs' with the same name. */
struct brief_program {
    char name[APAPI_TEXT_SIZE]; /* "": not known */
    bool of_job; /* it is the name of the job: it has no steps but batch and extern */
    double energy_j, node_w;
    struct brief_median user, site; /* jobs 0: none, or not looked for */
};

/** A job in a few lines. NaN, "", 0: not known. */
struct brief {
    struct show show; /* its records; count 0: there are none to read */
    char job_id[64];
    const struct apapi_identity *id; /* of a record; NULL: none */
    struct sacct_job slurm;          /* job 0: Slurm's accounting does not say, or not in time */
    double energy_j, uncertainty_j, mean_w, node_w, measured;
    double nodes, cores, elapsed_s;
    double recorded_s; /* the time that `measured` is a share of, on each node */
    double cpu_s, core_s;
    double gpus, gpu_share; /* of the time in which a kernel ran */
    struct brief_program program;
};

/**
 * Compare the job's program with that of other jobs.
 * @param input        where these are read; whose are left out is up to it
 * @param deadline_ns  CLOCK_MONOTONIC: if they are not read then, nothing is known of them
 */
void brief_compare(struct brief *brief, const struct report_input *input, uint64_t deadline_ns);

#endif
