/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_RUNS_H
#define ATIME_RUNS_H
#include "apapi/session.h"
#include "atime/print.h"
#include "atime/process.h"
#include "atime/thresholds.h"
#include "trace/trace.h"

/** What to measure, and with what. All borrowed. */
struct measuring {
    struct apapi_session *session;
    struct trace *trace;           /* NULL: none */
    struct thresholds *thresholds; /* NULL: none */
    const struct process *process; /* NULL: run the report's program */
};

/**
 * Measure as often as `report->runs_wanted`, unless a signal arrives.
 * @param report  gets `runs` and `count`; free them with runs_clear()
 * @return 0; -1 with errno if the program could not be started: no further run was started.
 */
int runs_measure(const struct measuring *measuring, struct report *report, struct apapi_error *err);

/** @return exit status of the first run that failed, or 0. */
int runs_exit_code(const struct report *report);

/** Free what `report` owns. */
void runs_clear(struct report *report);

#endif
