/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_LIMITS_H
#define ATIME_LIMITS_H
#include "apapi/session.h"
#include "atime/options.h"
#include "limit/crossings.h"

/* The limits of --overflow. Mistakes are printed; -1: continue, otherwise the exit status. */

/** Parse them and start the actor, if there are any. Call it before there are threads. */
int limits_open(const struct options *options, struct crossings *limits);

/** Set them in the session. */
int limits_set(struct crossings *limits, struct apapi_session *session);

/** The measured process runs. @param context  struct crossings */
void limits_add_process(pid_t pid, void *context);

#endif
