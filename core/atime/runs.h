/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_RUNS_H
#define ATIME_RUNS_H
#include "apapi/session.h"
#include "atime/region_watch.h"
#include "atime/report.h"
#include "limit/crossings.h"
#include "session/trace.h"

/** The program and the settings of its measurement. All borrowed. */
struct measuring {
    struct apapi_session *session;
    struct trace *trace; /* NULL: none */
    struct crossings *limits;
    struct region_watch *regions; /* NULL: none */
    FILE *progress;               /* gets a line after each run; NULL: none */
    bool verbose;
};

/**
 * Measure as often as `runs_wanted`, unless a signal arrives. Several programs take turns, so that
 * a machine that gets warmer or busier treats them alike.
 * @param reports  `count` of them; each gets `runs` and `count`; free them with runs_clear()
 * @return 0; -1 with errno if a program could not be started: no further run was started.
 */
int runs_measure(const struct measuring *measuring, struct report *reports, size_t count,
                 struct apapi_error *err);

/** @return exit status of the first run that failed, or 0; without a run, of the last warm-up. */
int runs_exit_code(const struct report *report);

/** Free what `report` owns. */
void runs_clear(struct report *report);

#endif
