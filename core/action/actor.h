/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_ACTOR_H
#define ACTION_ACTOR_H
#include <stdbool.h>
#include <sys/types.h>

#include "action/actor_loop.h"
#include "action/order.h"
#include "apapi/error.h"

/*
 * The actor: a process beside the one that measures, which does what a crossed threshold asks for.
 * Nothing that hangs there holds up a reading.
 */

struct actor {
    int fd; /* never blocks; -1: there is none */
    pid_t pid;
};

#define ACTOR_NONE ((struct actor){.fd = -1, .pid = -1})

/**
 * Create the process. The calling process must have no other threads. SIGCHLD of the actor's
 * children goes to the actor alone.
 * @return 0; -1 with errno.
 */
int actor_start(struct actor *actor, const struct actor_config *config, struct apapi_error *err);

/** Give an order. Never waits. @return 0; -1 with errno EAGAIN (too many at once), EPIPE. */
int actor_order(const struct actor *actor, const struct order *order);

/** Take an answer that has arrived. @return whether there was one. */
bool actor_hear(const struct actor *actor, struct order_answer *answer);

/**
 * No task runs any more: let commands that are just ending end, kill the others, hear all answers.
 * @param hear  called for each answer
 */
void actor_end(struct actor *actor, void (*hear)(const struct order_answer *answer, void *context),
               void *context);

#endif
