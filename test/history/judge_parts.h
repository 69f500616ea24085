/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HISTORY_JUDGE_PARTS_H
#define HISTORY_JUDGE_PARTS_H
#include "history/play.h"

/** One event of the run. */
struct judged {
    struct play *play;
    size_t component, event;
    const struct history_meter *meter;
    const struct power *power;
    const struct seen *seen;
    const struct apapi_event_result *result;
};

/** @return what was planned for its component. */
const struct history_component *judged_script(const struct judged *j);

/** @return whether the counter stood still then. */
bool judged_is_frozen(const struct judged *j, uint64_t at_ns);

/** A figure is wrong. */
void judged_fail(const struct judged *j, const char *what, double is, double shall);

/** Wraps, resets, refused readings and gaps, and each unit that a counter has counted. */
void judge_counts(const struct judged *j);

/** A source that was gone, or failed, is read again. */
void judge_return(const struct judged *j);

#endif
