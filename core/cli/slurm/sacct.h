/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SLURM_SACCT_H
#define APAPI_SLURM_SACCT_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * Jobs by Slurm's accounting, through sacct(1): as the caller, so that Slurm decides what
 * he may see. A program of its own, because apapi does not link Slurm's library.
 */

#define SACCT_DELIMITER "\x1f"
#define SACCT_FORMAT                                                                               \
    "JobIDRaw,JobID,Cluster,User,Account,State,ExitCode,ElapsedRaw,NNodes,AllocCPUS,CPUTimeRAW,"   \
    "TotalCPU,AdminComment"

/** A job. Unknown values are "", 0 or NaN. */
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
    {                                                                                              \
        .elapsed_s = NAN, .core_s = NAN, .cpu_s = NAN, .energy_j = NAN, .uncertainty_j = NAN,      \
        .mean_w = NAN, .measured = NAN, .recorded_s = NAN                                          \
    }

/**
 * Understand a line of sacct in that format.
 * @param line  is cut up
 * @return whether it is a job: not a step, and nothing else
 */
bool sacct_line_parse(char *line, struct sacct_job *job);

/** @return 0 to continue; -1 with errno to stop. The job is valid during the call. */
typedef int (*sacct_f)(const struct sacct_job *job, void *context);

struct sacct_query {
    const char *jobs, *clusters; /* lists as sacct takes them; clusters NULL: no limit */
    unsigned limit_s;            /* how long to wait [s] */
};

/**
 * Pass the jobs to `take`.
 * @return 0; -1 with errno ENOENT (no sacct here), ETIMEDOUT, EIO (sacct has failed: `err` has its
 *         first line), ENOMEM, or that of `take`
 */
int sacct_read(const struct sacct_query *query, sacct_f take, void *context,
               struct apapi_error *err);

#endif
