/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_PLAY_H
#define HISTORY_PLAY_H
#include "apapi/live.h"
#include "apapi/measurement.h"
#include "history/crossings.h"
#include "history/seen.h"
#include "simulation/sim_source.h"

#define PLAY_TEXT_SIZE 400
#define PLAY_SNAPSHOTS 2 /* kept for each run */

/** One run of a history, from start to stop. */
struct run {
    uint64_t start_ns, end_ns; /* of the measured time */
    uint64_t asked_ns;         /* when the stop was requested */
    bool goes_on;
    struct seen seen[HISTORY_COMPONENTS][HISTORY_EVENTS];
    struct apapi_measurement snapshots[PLAY_SNAPSHOTS];
    size_t snapshot_count;
    struct apapi_measurement m;
};

/** A history while it is played. */
struct play {
    struct history history;
    struct sim_clock clock;
    struct sim_source source;
    struct apapi_session *session;
    struct apapi_live_page page;
    struct run run;
    struct crossings crossings;
    char failure[PLAY_TEXT_SIZE]; /* "": no failure */
};

/** Make the history of a seed. */
void history_generate(struct history *history, uint64_t seed);

/** Play the history of a seed. @return whether there was no failure. */
bool play_history(struct play *play, uint64_t seed);

/** Note a failure; the first one stays. */
__attribute__((format(printf, 2, 3))) void play_fail(struct play *play, const char *format, ...);

#endif
