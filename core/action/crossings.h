/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_CROSSINGS_H
#define ACTION_CROSSINGS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "action/actor.h"
#include "apapi/overflow.h"
#include "apapi/record.h"
#include "threshold/threshold_list.h"

struct crossings;

/** A threshold of a session. */
struct crossings_hook {
    struct crossings *owner;
    size_t threshold;
    uint64_t count; /* crossings so far */
    bool waits;     /* its component is still being opened */
};

/**
 * The thresholds of a session, and what was crossed, for the record. The session's thread for
 * handlers adds to it while another thread reads it.
 */
struct crossings {
    const struct threshold_list *thresholds;
    struct actor *actor;
    int64_t unix_offset_ns; /* UTC - CLOCK_MONOTONIC */
    struct crossings_hook hooks[THRESHOLDS_MAX];
    pthread_mutex_t mutex; /* of what follows */
    uint64_t total;
    uint64_t numbers[APAPI_CROSSINGS_MAX]; /* of those that are kept */
    struct apapi_crossing kept[APAPI_CROSSINGS_MAX];
};

/** Begin. Both are borrowed. @param actor  NULL: nothing is done */
void crossings_init(struct crossings *crossings, const struct threshold_list *thresholds,
                    struct actor *actor);

/**
 * Set all thresholds in a session. Those of components that are still being opened are set later.
 * @return 0; -1 with errno as apapi_overflow_add(); `err` marks the place as threshold_parse(). The
 *         others are set.
 */
int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err);

/**
 * Try again those that had to wait for their component.
 * @return 0; -1 with errno and `err` if one can never be set; it is not tried again.
 */
int crossings_set_waiting(struct crossings *crossings, struct apapi_session *session,
                          struct apapi_error *err);

/** @return a threshold that waits for its component; NULL: none does. */
const struct threshold *crossings_waiting(const struct crossings *crossings);

/**
 * A threshold that is watched elsewhere was crossed: act, and note it. Any thread.
 * @param crossing  with the text and the action for the record
 */
void crossings_cross(struct crossings *crossings, size_t threshold,
                     const struct apapi_crossing *crossing);

/** Add what was crossed elsewhere. */
void crossings_add(struct crossings *crossings, const struct apapi_crossing *crossing);

/** Forget what was crossed, for the next run. */
void crossings_forget(struct crossings *crossings);

/** Hear what came of actions, and copy everything into a record without any. 0; -1: ENOMEM. */
int crossings_copy(struct crossings *crossings, struct apapi_record *record);

/** No task runs any more: end the actor, and what it has started. */
void crossings_end(struct crossings *crossings);

#endif
