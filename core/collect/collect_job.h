/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_JOB_H
#define APAPI_COLLECT_JOB_H
#include "channel/message.h"

/**
 * For salloc: take what the job's sruns pass on until the plugin says that the job has ended, and
 * answer with the job's table.
 * @param token    of the sruns
 * @param message  the configuration; then for the conversation
 */
void collect_job(const char *token, struct message *message);

#endif
