/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_CROSSINGS_H
#define LIMIT_CROSSINGS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/overflow.h"
#include "apapi/record.h"
#include "limit/actor.h"
#include "limit/limit.h"

/* What was crossed: kept for the record, and told to the actor. */

struct crossings;

/** A limit of a session. */
struct crossings_hook {
    struct crossings *owner;
    size_t limit;
    uint64_t count; /* crossings so far */
    bool waits;     /* its component is still being opened */
};

/**
 * The limits of a session, a step or a job, and what was crossed. The session's thread for
 * handlers adds to it while another thread reads it.
 */
struct crossings {
    const struct limit_list *limits;
    struct actor *actor;
    int64_t unix_offset_ns; /* UTC - CLOCK_MONOTONIC */
    struct crossings_hook hooks[LIMITS_ROOM];
    pthread_mutex_t mutex; /* of what follows */
    uint64_t total;
    uint64_t numbers[APAPI_CROSSINGS_MAX]; /* of those that are kept */
    struct apapi_crossing kept[APAPI_CROSSINGS_MAX];
};

/** Begin. Both are borrowed. @param actor  NULL: nothing is done */
void crossings_init(struct crossings *crossings, const struct limit_list *limits,
                    struct actor *actor);

/**
 * Set the node's limits in a session. Those of components that are still being opened are set
 * later.
 * @return 0; -1 with errno as apapi_overflow_add(); `err` marks the place as limit_parse(). The
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

/** @return a limit that waits for its component; NULL: none does. */
const struct limit *crossings_waiting(const struct crossings *crossings);

/**
 * A limit of a step or a job was crossed: note it, and have the actor do what it can. Any thread.
 * @param crossing  `action` may be set: it is kept then
 * @return the crossing's number, for answers
 */
uint64_t crossings_cross(struct crossings *crossings, size_t limit,
                         struct apapi_crossing *crossing);

/**
 * Have the actor run scancel as the user. The controller may be away: it is tried ten times, every
 * 2 s. Its variables say where it is: APAPI_SLURM_BIN, a folder with a slash, or "".
 * @param arguments  " --signal=USR1 17.0"
 * @param then       what follows in the command if it has worked
 * @return 0; -1 with errno as actor_order(). The answer has the number of the crossing
 */
int crossings_cancel(struct crossings *crossings, uint64_t number, const char *arguments,
                     const char *then);

/** Note what came of a crossing: one answer after the other. @param context  struct crossings */
void crossings_note(const struct order_answer *answer, void *context);

/** Forget what was crossed, for the next run. */
void crossings_forget(struct crossings *crossings);

/** Hear what came of actions, and copy everything into a record without any. 0; -1: ENOMEM. */
int crossings_copy(struct crossings *crossings, struct apapi_record *record);

/** No task runs any more: end the actor, and what it has started. */
void crossings_end(struct crossings *crossings);

/**
 * Write those that are kept as the answer to a total, see channel.h.
 * @param pending  what is said of those without a result, by their number
 * @param context  for pending()
 * @return the length of the text; lines that have no room are left out
 */
size_t crossings_write(const struct crossings *crossings,
                       const char *(*pending)(const void *context, uint64_t number),
                       const void *context, char *text, size_t size);

/** Add such lines to a record, in the order of time. What is malformed is left out. */
void crossings_read(struct apapi_record *record, const char *lines);

#endif
