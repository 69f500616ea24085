/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SESSION_TRACE_H
#define SESSION_TRACE_H
#include <stdio.h>

#include "apapi/session.h"

/**
 * Writes every reading as a line of CSV, in a thread of its own that blocks all signals (opaque).
 * The sampling thread only copies into memory; rows without room there are dropped and counted.
 */
struct trace;

/**
 * @param file  the output; closed by trace_finish(), and by this function on failure
 * @param path  its name, must stay valid as long as the trace
 * @return NULL with errno ENOMEM, EAGAIN.
 */
struct trace *trace_create(FILE *file, const char *path, struct apapi_error *err);

/** on_sample() of struct apapi_session_config. @param context  the trace */
void trace_sample(const struct apapi_sample *sample, void *context);

/** Begin another run. Must not be called during a measurement. */
void trace_next_run(struct trace *trace);

/**
 * Write what is left, close the file and free. The traced sessions must still exist. NULL is
 * allowed.
 * @return 0; -1 with errno EIO, ENOSPC, ... (a write failed), EOVERFLOW (readings were dropped).
 */
int trace_finish(struct trace *trace, struct apapi_error *err);

#endif
