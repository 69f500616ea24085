/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SYNC_COMMENT_H
#define SYNC_COMMENT_H

#include "apapi/job.h"

#define COMMENT_MAX 65535    /* bytes that fit into slurmdbd's table */
#define COMMENT_OWN_SIZE 300 /* bytes of APAPI's part, with the NUL */

/**
 * Format APAPI's part of the comment: "apapi":{"v":1,"energy_j":1440.12,"uncertainty_j":2.51,...},
 * without outer braces.
 */
void comment_own(char own[COMMENT_OWN_SIZE], const struct apapi_job_total *total);

/**
 * Put `own` into an existing comment. Everything else in it stays byte for byte:
 *   empty          becomes {"apapi":{...}}
 *   a JSON object  gets or replaces the key "apapi"
 *   anything else  is kept as text, followed by " {"apapi":{...}}"
 * @param there   NULL: empty
 * @param result  set on success only; free it with free()
 * @return 0; -1 with errno EMSGSIZE (longer than COMMENT_MAX), ENOMEM.
 */
int comment_put(const char *there, const char *own, char **result);

#endif
