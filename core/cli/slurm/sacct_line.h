/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SLURM_SACCT_LINE_H
#define APAPI_SLURM_SACCT_LINE_H
#include <stdbool.h>
#include <stdint.h>

#define SACCT_DELIMITER "\x1f"
#define SACCT_FORMAT                                                                               \
    "JobIDRaw,JobID,Cluster,User,Account,Partition,QOS,JobName,State,ExitCode,Start,End,"          \
    "ElapsedRaw,NNodes,AllocCPUS,CPUTimeRAW,TotalCPU,AdminComment"

/** A job. Unknown values are "", 0 or NaN. */
struct sacct_job {
    uint32_t job;
    char job_id[64]; /* "17", "17_3", "17+1" */
    char cluster[64], user[64], account[64], partition[64], qos[64], job_name[256];
    char state[32], exit[32]; /* "COMPLETED", "0:0" */
    int64_t start_s, end_s;   /* [s since 1970] */
    double elapsed_s, nodes, cores;
    double core_s; /* cores x elapsed_s [s] */
    double cpu_s;  /* that its processes have used [s]; only with `steps` */
    /* what `apapi sync` has written */
    double energy_j, uncertainty_j, mean_w, measured_pct, recorded_s, incomplete;
};

/**
 * Understand a line of sacct in that format, with times in seconds since 1970.
 * @param line  is cut up
 * @return whether it is a job: not a step, and nothing else
 */
bool sacct_line_parse(char *line, bool steps, struct sacct_job *job);

#endif
