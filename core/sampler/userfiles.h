/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_USERFILES_H
#define SAMPLER_USERFILES_H
#include <stdbool.h>

#include "sampler/step.h"
#include "sampler/writer.h"
#include "session/trace.h"

/** The files that a user has named for a step: the report of a batch step, and the trace. */
struct userfiles {
    struct writer report, trace;
    struct trace *tracer;  /* NULL: none */
    char folder[PATH_MAX]; /* of the job; names may be relative to it */
    char trace_path[PATH_MAX];
    struct apapi_error trouble; /* "": none */
};

/** Create the writer processes, before there are any threads. */
void userfiles_prepare(struct userfiles *files, const struct step *step);

/** @return whether there are processes of the user. */
bool userfiles_have_writers(const struct userfiles *files);

/** Start the trace's thread, if there is a trace. */
void userfiles_start_trace(struct userfiles *files);

/** The step begins. @param folder  of the job, "" if not known */
void userfiles_begin(struct userfiles *files, const struct step *step, const char *folder);

/** Write the report. @return whether there is a file for it and it was written. */
bool userfiles_report(struct userfiles *files, const struct step *step, const char *text);

/** End the trace while the traced session still exists. */
void userfiles_end_trace(struct userfiles *files);

/** Close everything. */
void userfiles_close(struct userfiles *files);

#endif
