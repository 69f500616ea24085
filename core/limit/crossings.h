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
#include "limit/evaluate.h"
#include "limit/limit.h"

/* Crossings: kept for the record, and told to the actor. */

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
 * handlers adds to it while another thread reads it. All members 0: there are none.
 */
struct crossings {
    struct limit_list limits; /* those of nodes are there before crossings_open() */
    struct limit_watch watch; /* those of a sum; its scope is set by its owner */
    struct actor actor;
    bool open;
    int64_t unix_offset_ns; /* UTC - CLOCK_MONOTONIC */
    struct crossings_hook hooks[LIMITS_ROOM];
    pthread_mutex_t mutex; /* of what follows */
    uint64_t total;
    struct crossings_kept {
        struct apapi_crossing crossing;
        uint64_t number;
        uint64_t asked_ns; /* when scancel was ordered that has not answered; 0: none was */
    } kept[APAPI_CROSSINGS_MAX];
};

/**
 * Begin, and start the actor. Without one, what is crossed is only noted.
 * @param config  but for `limits`; NULL: no actor
 * @return 0; -1 with errno as actor_start().
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

/** Note a crossing, and have the actor do what it can. Any thread. @return its number */
uint64_t crossings_cross(struct crossings *crossings, size_t limit,
                         struct apapi_crossing *crossing);

/** The receivers of the signals of a limit of a sum. */
struct crossings_reach {
    const char *steps; /* " 17.0 18.0", the parts of a heterogeneous step */
    uint32_t job;
    bool script; /* without steps of the job, its script gets them */
};

/**
 * A sum has crossed a limit: note it. Its signals are sent by scancel.
 * @param reach  NULL: too late for signals
 * @return 0; -1 with errno as actor_order(): no signal is sent.
 */
int crossings_cross_sum(struct crossings *crossings, const struct limit_crossed *crossed,
                        double sum_j, const struct crossings_reach *reach);

/**
 * Have the actor run scancel as the user. The controller may be away: it is tried ten times, every
 * 2 s.
 * @param answer     number and limit of the crossing, which the answer has, too
 * @param arguments  " --signal=USR1 17.0"
 * @param then       what follows in the command if it has worked
 * @return 0; -1 with errno as actor_order().
 */
int crossings_cancel(struct crossings *crossings, const struct order_answer *answer,
                     const char *arguments, const char *then);

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
 * @return the length of the text; lines that have no room are left out
 */
size_t crossings_write(const struct crossings *crossings, char *text, size_t size);

/** Add such lines to a record, in the order of time. What is malformed is left out. */
void crossings_read(struct apapi_record *record, const char *lines);

#endif
