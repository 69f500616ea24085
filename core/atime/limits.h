/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_LIMITS_H
#define ATIME_LIMITS_H
#include <stdbool.h>

#include "apapi/record.h"
#include "apapi/session.h"
#include "atime/options.h"

/** The limits of --overflow, and the process that acts on them. NULL is allowed everywhere. */
struct limits;

/**
 * Parse them and start the actor. Prints what is wrong. Call it before there are threads.
 * @param limits  result; NULL: there are none
 * @return -1: continue; otherwise the exit status
 */
int limits_open(const struct options *options, struct limits **limits);

/** Set them in the session. Prints what is wrong. @return -1: continue; otherwise the status */
int limits_set(struct limits *limits, struct apapi_session *session);

/** A run begins. */
void limits_begin(struct limits *limits);

/** The measured process runs. @param context  struct limits */
void limits_add_process(pid_t pid, void *context);

/** A run has ended: copy what was crossed into its record. @param last  end commands, too */
void limits_record(struct limits *limits, bool last, struct apapi_record *record);

void limits_close(struct limits *limits);

#endif
