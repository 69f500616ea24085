/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SHOW_FORMS_H
#define APAPI_SHOW_FORMS_H
#include <math.h>

#include "cli/job/job.h"
#include "cli/records/input.h"
#include "config/config.h"

/* The forms of `apapi show`: a job in full, a job in a few lines, or a step as srun prints it. */

struct show_options {
    struct query query;
    struct show show; /* records of the job */
    bool brief;
    const char *wait;
    uint64_t wait_ns;          /* with `brief`: how long to wait for the energy of the job */
    enum config_format format; /* of a step's report; CONFIG_NONE: not given */
};

/** A job as sacct(1) knows it. Unknown values are "", 0 or NaN. */
struct sacct_job {
    uint32_t job;
    char job_id[64]; /* "17", "17_3", "17+1" */
    char cluster[64], user[64], account[64];
    char state[32], exit[32]; /* "COMPLETED", "0:0" */
    uint64_t nodes, cores;
    double elapsed_s;
    double core_s; /* cores x elapsed_s [s] */
    double cpu_s;  /* CPU time that its processes have used [s] */
    /* written by `apapi sync`: */
    double energy_j, uncertainty_j, mean_w, measured, recorded_s;
    unsigned components, lacking; /* of a heterogeneous job: all, and those without energy_j */
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
 * Parse a line of sacct's output.
 * @param line  is cut up
 * @return whether the line is a job, not a step or anything else
 */
bool sacct_line_parse(char *line, struct sacct_job *job);

/**
 * Ask sacct(1) about the job of the query.
 * @param show  records of the job, to which the answer must belong
 * @param job   result
 * @param why   result: why the job, or the energy of a job without records, is not known; ""
 * @return whether sacct knows several such jobs; then `job` is unknown
 */
bool sacct_ask(const struct query *query, const struct show *show, struct sacct_job *job,
               char why[SACCT_WHY_SIZE]);

/** @return whether the job has not ended. Then its records are of steps that have ended. */
bool sacct_goes_on(const struct sacct_job *job);

/** Report that a job has no record because it has not ended. @return the exit status */
int show_fail_going(const char *command, const struct sacct_job *job);

/** Print a job in a few lines. @return the exit status */
int show_brief(struct show_options *options);

#endif
