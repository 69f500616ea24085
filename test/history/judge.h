/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_JUDGE_H
#define HISTORY_JUDGE_H
#include "history/play.h"

/** Why a figure may be wrong by more than its uncertainty: known reasons, not mended yet. */
enum kind {
    KIND_VARYING,        /* the power changes, but the uncertainty is calculated with the mean */
    KIND_UPDATE_UNKNOWN, /* a counter moves less often than is known */
    KIND_FROZEN_START, /* a counter stands still at the first reading, then shows the time before */
    KIND_FROZEN_END,   /* a counter stands still at the last reading, too short to be seen */
    KIND_UNCOVERED,    /* much of the time is not covered, and the mean is used for it */
    KIND_BEYOND,       /* an own worker's last reading is made after the end, its first late */
    KINDS
};

extern const char *const kind_names[KINDS];

/** How many figures of a kind were judged, and how many of them were outside. */
struct kind_count {
    uint64_t judged, outside;
};
extern struct kind_count kind_counts[KINDS];

/** Judge a snapshot of the run in progress. */
void judge_snapshot(struct play *play, const struct apapi_measurement *m);

/** Judge the run's measurement, its snapshots and the live page. */
void judge_run(struct play *play);

#endif
