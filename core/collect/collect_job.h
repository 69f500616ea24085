/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_COLLECT_JOB_H
#define APAPI_COLLECT_JOB_H
#include "channel/message.h"

/**
 * For salloc: collect what the job's sruns forward until the plugin reports the end of the job.
 * Then answer with the job's table.
 * @param token    token of the sruns
 * @param message  the configuration; reused for the conversation
 * @return 0, also if salloc is gone; -1: it did not get the table.
 */
int collect_job(const char *token, struct message *message);

#endif
