/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_TRACE_H
#define ATIME_TRACE_H
#include <stddef.h>

#include "apapi/session.h"

/**
 * Every reading as a line of CSV, written by a thread of its own that receives no signal
 * (opaque). The sampling thread only copies into memory; what finds no room there is dropped and
 * counted.
 */
struct trace;

/** @param fd  where to; taken over on success. @return NULL with errno ENOMEM, EAGAIN. */
struct trace *trace_create(int fd, const char *path, struct apapi_error *err);

/** For struct apapi_session_config: `context` is the trace. */
void trace_sample(const struct apapi_sample *sample, void *context);

/** Another run begins. Not while one is being measured. */
void trace_next_run(struct trace *trace);

/**
 * Write what is left, close the file and free. The sessions that were traced still exist. NULL is
 * allowed.
 * @return 0; -1 with errno EIO, ENOSPC, ... (a write failed), EOVERFLOW (readings were dropped).
 */
int trace_finish(struct trace *trace, struct apapi_error *err);

#endif
