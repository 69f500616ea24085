/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_COMMENT_H
#define SYNC_COMMENT_H
#include <stddef.h>

#include "apapi/job.h"

#define COMMENT_MAX 65535    /* bytes that slurmdbd's table holds */
#define COMMENT_OWN_SIZE 250 /* bytes of what APAPI writes, with the NUL */

/**
 * What APAPI says of a job: "apapi":{"v":1,"energy_j":1440.12,...}, without the braces around.
 * @param measured  share of the job's node time for which the energy is known, 0..1; NaN: unknown
 */
void comment_own(char own[COMMENT_OWN_SIZE], const struct apapi_job_total *total, double measured);

/**
 * Put `own` into what stands there, and keep all else of it to the byte:
 *   nothing        {"apapi":{...}}
 *   a JSON object  its key "apapi" is set
 *   anything else  is a text, behind which " {"apapi":{...}}" is set
 * @param there   NULL: nothing
 * @param result  to be freed with free(); set on success only
 * @return 0; -1 with errno EMSGSIZE (longer than COMMENT_MAX), ENOMEM.
 */
int comment_put(const char *there, const char *own, char **result);

#endif
