/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SHOW_FORMS_H
#define APAPI_SHOW_FORMS_H
#include <math.h>

#include "cli/job/job.h"
#include "cli/records/input.h"
#include "config/config.h"

/* `apapi show`: one job in full, in a few lines, or one step as srun prints it. */

struct show_options {
    struct query query;
    struct show show; /* the job's records */
    bool brief;
    const char *wait;
    uint64_t wait_ns;          /* brief: for the energy of the job */
    enum config_format format; /* of a step; CONFIG_NONE: not given */
};

/** A job by sacct(1). Unknown values are "", 0 or NaN. */
struct sacct_job {
    uint32_t job;
    char job_id[64]; /* "17", "17_3", "17+1" */
    char cluster[64], user[64], account[64];
    char state[32], exit[32]; /* "COMPLETED", "0:0" */
    uint64_t nodes, cores;
    double elapsed_s;
    double core_s; /* cores x elapsed_s [s] */
    double cpu_s;  /* that its processes have used [s] */
    /* what `apapi sync` has written */
    double energy_j, uncertainty_j, mean_w, measured, recorded_s;
};

#define SACCT_JOB_UNKNOWN                                                                          \
    ((struct sacct_job){.elapsed_s = NAN,                                                          \
                        .core_s = NAN,                                                             \
                        .cpu_s = NAN,                                                              \
                        .energy_j = NAN,                                                           \
                        .uncertainty_j = NAN,                                                      \
                        .mean_w = NAN,                                                             \
                        .measured = NAN,                                                           \
                        .recorded_s = NAN})

#define SACCT_WHY_SIZE 256
#define SACCT_DELIMITER "\x1f"

/**
 * Understand a line of it.
 * @param line  is cut up
 * @return whether it is a job: not a step, and nothing else
 */
bool sacct_line_parse(char *line, struct sacct_job *job);

/**
 * Ask it about the job of the query.
 * @param show  its records: it is a job of these
 * @param job   result
 * @param why   result: why it does not know the job, or no energy of a job without records; ""
 * @return whether there are several such jobs; then it knows none
 */
bool sacct_ask(const struct query *query, const struct show *show, struct sacct_job *job,
               char why[SACCT_WHY_SIZE]);

/** @return whether the job has not ended: its records are of steps that have. */
bool sacct_goes_on(const struct sacct_job *job);

/** A job that has not ended has no record: say so. @return the exit status */
int show_fail_going(const char *command, const struct sacct_job *job);

/** Print a job in a few lines. @return the exit status */
int show_brief(struct show_options *options);

#endif
