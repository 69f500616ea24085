/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/job_id.h"

#include <stdio.h>

void job_id_text(const struct apapi_identity *id, char *text, size_t size)
{
    if (id->array_job != APAPI_UNKNOWN && id->array_task != APAPI_UNKNOWN) {
        snprintf(text, size, "%u_%u", id->array_job, id->array_task);
    } else if (id->het_job != APAPI_UNKNOWN && id->het_offset != APAPI_UNKNOWN) {
        snprintf(text, size, "%u+%u", id->het_job, id->het_offset);
    } else if (id->job != APAPI_UNKNOWN) {
        snprintf(text, size, "%u", id->job);
    } else {
        snprintf(text, size, "%s", "");
    }
}

void step_id_text(const struct apapi_identity *id, char *text, size_t size)
{
    char job[JOB_ID_SIZE];

    job_id_text(id, job, sizeof job);
    snprintf(text, size, "%s.%s", job, id->step);
}
