/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_CROSSINGS_H
#define LIMIT_CROSSINGS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "limit/actor.h"

/* Crossings: kept for the record, and told to the actor. */

/**
 * The limits of a session, a step or a job, and what was crossed. The session's thread for
 * handlers adds to it while another thread reads it. All members 0: there are none.
 */
struct crossings {
    struct limit_list limits; /* those of nodes are there before crossings_open() */
    struct actor actor;
    bool open;
    int64_t unix_offset_ns; /* UTC - CLOCK_MONOTONIC */
    pthread_mutex_t mutex;  /* of what follows */
    uint64_t total;         /* crossings so far */
    size_t count;           /* of them that are kept: of many, the first and the last half */
    struct crossings_kept {
        struct apapi_crossing crossing;
        uint64_t number;
        uint64_t asked_ns; /* when scancel was ordered that has not answered; 0: none was */
    } kept[APAPI_CROSSINGS_MAX];
};

/**
 * Begin, and start the actor.
 * @param config  but for `limits`
 * @return 0; -1 with errno as actor_start(): what is crossed is only noted.
 */
int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err);

/** There is one more task, which gets signals. @return 0; -1 with errno as actor_order(). */
int crossings_add_task(const struct crossings *crossings, pid_t pid);

/**
 * Set the node's limits in a session. Those of components that are still being opened have to
 * wait: call it again.
 * @return 0; -1 with errno as apapi_overflow_add(); `err` marks the place of the first one that can
 *         never be set, as limit_parse(). It is not tried again; the others are set.
 */
int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err);

/** @return a limit that waits for its component; NULL: none does. */
const struct limit *crossings_waiting(const struct crossings *crossings);

/**
 * Note a crossing, and have the actor do what is to be done.
 * @param crossing  without `threshold`, and perhaps without `action`
 * @param reach     at the limit of a sum: an order with the receivers of its signals; else NULL
 * @return 0; -1 with errno as actor_order(): nothing was done. Any thread.
 */
int crossings_cross(struct crossings *crossings, const struct limit *limit,
                    struct apapi_crossing *crossing, const struct order *reach);

/** A sum has crossed a limit. @param reach  NULL: too late for signals. @return as above */
int crossings_cross_sum(struct crossings *crossings, const struct limit *limit, double sum_j,
                        const struct order *reach);

/** Note what came of a crossing: one answer after the other. @param context  struct crossings */
void crossings_note(const struct order_answer *answer, void *context);

/** Forget what was crossed, for the next run. */
void crossings_forget(struct crossings *crossings);

/** Hear what came of actions, and copy everything into a record without any. 0; -1: ENOMEM. */
int crossings_copy(struct crossings *crossings, struct apapi_record *record);

/** No task runs any more: end the actor, and what it has started. */
void crossings_end(struct crossings *crossings);

/**
 * Write those that are kept as a record, for the answer to a total.
 * @return one line without a newline, for free(); NULL: there are none, or there is no memory
 */
char *crossings_encode(struct crossings *crossings);

/** Add those of such a line to a record, in the order of time. A malformed one is left out. */
void crossings_decode(const char *line, struct apapi_record *record);

#endif
