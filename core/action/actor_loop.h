/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_ACTOR_LOOP_H
#define ACTION_ACTOR_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "action/jobs.h"
#include "threshold/threshold_list.h"

/** What an actor needs to know. Borrowed until actor_start() returns. */
struct actor_config {
    const struct threshold_list *thresholds;
    const char *node;      /* for lines and variables */
    const char *said_by;   /* "apapi", before each line */
    int line_fd;           /* where lines go; -1: launch() prints them */
    uid_t uid;             /* real user of the processes that may get signals */
    pid_t parent;          /* of the tasks */
    bool grouped;          /* as struct processes has it */
    uint64_t kill_wait_ns; /* between SIGTERM and SIGKILL of the action term [ns] */
    void (*settle)(void);  /* called first in the actor; NULL: not needed */
    job_launch_f launch;
    const void *context; /* for launch() */
};

/** The actor's process: do what orders say, until ORDER_END or the end of the socket. */
_Noreturn void actor_loop(int socket, const struct actor_config *config);

#endif
