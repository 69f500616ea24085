/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SAMPLER_USERFILES_H
#define SAMPLER_USERFILES_H
#include <stdbool.h>

#include "sampler/step.h"
#include "sampler/writer.h"
#include "trace/trace.h"

/** The files of a step that its user has named: a batch step's report, and the trace. */
struct userfiles {
    struct writer report, trace;
    struct trace *tracer;  /* NULL: none */
    char folder[PATH_MAX]; /* of the job: names may be relative to it */
    char trace_path[PATH_MAX];
    struct apapi_error trouble; /* "": none so far */
};

/** Make the processes that will write, before there are any threads. */
void userfiles_prepare(struct userfiles *files, const struct step *step);

/** The step begins. @param folder  the job's, "" where not known */
void userfiles_begin(struct userfiles *files, const struct step *step, const char *folder);

/** Write the report. @return whether there is a file for it, and it is there. */
bool userfiles_report(struct userfiles *files, const struct step *step, const char *text);

/** End the trace; the session that was traced still exists. */
void userfiles_end_trace(struct userfiles *files);

/** Let go of what is open. */
void userfiles_close(struct userfiles *files);

#endif
