/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SUM_JOB_ID_H
#define APAPI_SUM_JOB_ID_H
#include "apapi/record.h"

#define JOB_ID_SIZE 32

/** Write a job's ID in Slurm's form: "17", "17_3", "21+1"; "" outside Slurm. */
void job_id_text(const struct apapi_identity *id, char *text, size_t size);

/** The same of a step: "17_3.0". */
void step_id_text(const struct apapi_identity *id, char *text, size_t size);

#endif
