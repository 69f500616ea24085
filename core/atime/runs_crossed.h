/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATIME_RUNS_CROSSED_H
#define ATIME_RUNS_CROSSED_H
#include "atime/print.h"
#include "threshold/types.h"

/** A threshold that was crossed in a run. */
struct runs_crossed {
    const char *threshold; /* borrowed from a run's record */
    struct spread count;   /* of crossings, in the runs that have any */
    struct spread first_s; /* the first one in these runs, since their start [s] */
};

/** @return how many thresholds were crossed in the runs of `report`, at most THRESHOLDS_MAX. */
size_t runs_crossed(const struct report *report, struct runs_crossed rows[THRESHOLDS_MAX]);

#endif
