/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of events: incidents, and every unit of a counter that cannot be mistaken.
 */
#include <inttypes.h>
#include <math.h>

#include "history/judge_parts.h"

#define SECOND_NS UINT64_C(1000000000)
#define PATIENCE_NS                                                                                \
    UINT64_C(40000000) /* with a counter whose period nobody states, see counter.c */

/* Absurd readings of a counter without a range may be taken for the first ones after a reset. */
static bool may_begin_absurd(const struct judged *j)
{
    const struct seen *seen = j->seen;

    bool begins = seen->breaks > 0 || seen->last.opened != seen->first.opened;

    return !j->meter->range_max && (seen->absurd_first || (seen->absurd > 0 && begins));
}

/* The first move of a counter that stood still when a segment began may be older than that. */
static bool may_begin_frozen(const struct judged *j)
{
    const struct history_component *script = judged_script(j);
    const struct seen *seen = j->seen;

    for (size_t i = 0; i < script->fault_count; i++) {
        const struct history_fault *fault = &script->faults[i];

        if (fault->kind == FAULT_FREEZE && fault->event == j->event &&
            (seen->breaks + seen->restarts > 0 || seen->first_move_ns == 0 ||
             fault->from_ns <= seen->first_move_ns)) {
            return true;
        }
    }
    return false;
}

/* Where nobody states that it moves seldom, it seems to stand still, too: less is counted. */
static bool may_seem_frozen(const struct judged *j)
{
    const struct history_component *script = judged_script(j);
    uint64_t late_ns = 2 * script->read_ns + j->play->history.latest_ns;

    return !j->meter->stated_ns &&
           (j->meter->update_ns + late_ns >= PATIENCE_NS || history_has(script, FAULT_LATE) ||
            history_has(script, FAULT_EARLY) || history_has(script, FAULT_HANG));
}

static bool is_certain(const struct judged *j)
{
    const struct seen *seen = j->seen;

    return !j->meter->doubles && !seen->unsure && !seen->disguised && !seen->moves_late &&
           !may_begin_absurd(j) && !may_begin_frozen(j) && !may_seem_frozen(j);
}

/* A break is a reset, but for one at the last reading, which is refused. */
static void judge_resets(const struct judged *j)
{
    const struct apapi_incidents *incidents = &j->result->incidents;
    const struct seen *seen = j->seen;

    if (incidents->resets + incidents->refused != seen->breaks + seen->restarts + seen->absurd ||
        incidents->resets < seen->returns + seen->restarts) {
        play_fail(j->play,
                  "c%zu:::E%zu: %" PRIu64 " resets and %" PRIu64
                  " refused, for %zu breaks (in %zu it was opened again), %zu restarts, %zu absurd",
                  j->component, j->event, incidents->resets, incidents->refused, seen->breaks,
                  seen->returns, seen->restarts, seen->absurd);
    }
}

/* The only fault of all components. NULL: there is none, or there are others. */
static const struct history_fault *only_fault(const struct history *history, size_t component)
{
    size_t others = history->stop_count;

    for (size_t i = 0; i < history->component_count; i++) {
        others += i == component ? 0 : history->components[i].fault_count;
    }
    return others == 0 && history->components[component].fault_count == 1
               ? history->components[component].faults
               : NULL;
}

/* For all components to be read once, and this one to be opened. */
static uint64_t round_ns(const struct history *history, size_t component)
{
    uint64_t round_ns =
        SECOND_NS + 20 * history->latest_ns + history->components[component].open_ns;

    for (size_t i = 0; i < history->component_count; i++) {
        round_ns += 2 * history->components[i].read_ns + history->components[i].open_ns;
    }
    return round_ns;
}

/* The shared worker goes on reading what fails; it opens nothing. */
static bool is_in_need_of_thread(const struct history_component *script,
                                 const struct history_fault *fault)
{
    return script->slow || script->own_worker || fault->kind == FAULT_VANISH;
}

/* It is tried again after pauses that double: what is there again is read before long. */
void judge_return(const struct judged *j)
{
    const struct history *history = &j->play->history;
    const struct history_component *script = judged_script(j);
    const struct history_fault *fault = only_fault(history, j->component);
    uint64_t interval_ns = script->interval_ns + history->min_interval_ns, from_ns;

    if (!fault || (history->refused_threads && is_in_need_of_thread(script, fault)) ||
        j->seen->good == 0 || fault->from_ns < j->seen->first.value_ns ||
        (fault->kind != FAULT_VANISH && fault->kind != FAULT_FAIL)) {
        return;
    }
    from_ns = fault->to_ns + 2 * (fault->to_ns - fault->from_ns) + 4 * interval_ns +
              4 * round_ns(history, j->component);
    if (from_ns < j->play->run.end_ns && j->seen->last.value_ns < fault->to_ns) {
        play_fail(j->play, "c%zu:::E%zu was never read again", j->component, j->event);
    }
}

void judge_counts(const struct judged *j)
{
    const struct apapi_incidents *incidents = &j->result->incidents;
    const struct seen *seen = j->seen;

    if (!is_certain(j)) {
        return;
    }
    judge_resets(j);
    if (j->result->raw_total != seen->moved && !isnan(j->result->total)) {
        judged_fail(j, "raw total", (double)j->result->raw_total, (double)seen->moved);
    }
    if (incidents->wraps != seen->wraps) {
        judged_fail(j, "wraps", (double)incidents->wraps, (double)seen->wraps);
    }
    if (incidents->gaps != seen->gaps) {
        judged_fail(j, "gaps", (double)incidents->gaps, (double)seen->gaps);
    }
}
