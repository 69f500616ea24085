/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_THRESHOLDS_H
#define ATIME_THRESHOLDS_H
#include <stdbool.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "atime/options.h"

/** The thresholds of --overflow, and the process that acts on them. NULL is allowed everywhere. */
struct thresholds;

/**
 * Parse them and start the actor. Prints what is wrong. Call it before there are threads.
 * @param thresholds  result; NULL: there are none
 * @return -1: continue; otherwise the exit status
 */
int thresholds_open(const struct options *options, struct thresholds **thresholds);

/** Set them in the session. Prints what is wrong. @return -1: continue; otherwise the status */
int thresholds_set(struct thresholds *thresholds, struct apapi_session *session);

/** A run begins. */
void thresholds_begin(struct thresholds *thresholds);

/** The measured process runs. @param context  struct thresholds */
void thresholds_add_process(pid_t pid, void *context);

/** A run has ended: copy what was crossed into its record. @param last  end commands, too */
void thresholds_record(struct thresholds *thresholds, bool last, struct apapi_record *record);

void thresholds_close(struct thresholds *thresholds);

#endif
