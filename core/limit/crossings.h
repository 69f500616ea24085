/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_CROSSINGS_H
#define LIMIT_CROSSINGS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/record.h"
#include "limit/limit.h"
#include "limit/processes.h"

/*
 * Crossings of limits are kept for the record, and sent to the actor. The actor is a process forked
 * from the one that measures or adds up, and carries out the actions of crossed limits. An action
 * that hangs there delays no reading.
 */

/* --- commands --------------------------------------------------------------------------------- */

/** Exit status of a process that could not join its task, or the task's control group. */
#define JOB_NOT_DONE 126

/** The work of a new process that the actor starts. */
struct job_launch {
    const struct processes *tasks; /* the process runs beside one of these */
    bool prints;   /* `text` is a line for the standard error of the task; else a command */
    bool of_slurm; /* the command is Slurm's: it gets nothing of the task's environment */
    const char *text;
    int output; /* takes the output of the process; -1: the output is not kept */
};

/**
 * Do the work, in the new process, which leads a session and a process group. Its environment has
 * APAPI_OVERFLOW_COUNT and so on, or is what Slurm's commands need. Returns only on failure.
 */
typedef void (*job_launch_f)(const struct job_launch *launch, const void *context);

/**
 * In a new process: read from /dev/null, write to `output`, and close all other descriptors.
 * @param output  a descriptor; -1: /dev/null
 */
void shell_plug(int output);

/** Become `/bin/sh -c COMMAND`. Returns only on failure. */
void shell_become(const char *command);

/* --- crossings -------------------------------------------------------------------------------- */

#define KILL_WAIT_S 30 /* Slurm's KillWait [s], where the site's is not known */

/** The settings of an actor. Borrowed until crossings_open() returns. */
struct actor_config {
    const char *node;       /* its name, for lines and variables */
    const char *said_by;    /* "apapi", before each line; NULL: the actor prints no lines */
    int line_fd;            /* for lines, and the commands' output; -1: launch() prints lines */
    uid_t uid;              /* real user of the processes that may get signals */
    pid_t parent;           /* parent of the tasks */
    bool grouped;           /* see struct processes */
    bool bare;              /* commands get nothing of this process's environment */
    bool captures;          /* answers contain the output of Slurm's commands */
    uint64_t kill_wait_ns;  /* between SIGTERM and SIGKILL of the action term [ns] */
    uint64_t grace_ns;      /* at the end, time for commands that still run [ns]; 0: 0.1 s */
    void (*settle)(void);   /* called first in the actor; NULL: not needed */
    job_launch_f launch;    /* NULL: shell_plug() and shell_become() */
    const void *context;    /* for launch() */
    const char *slurm_bin;  /* folder of one of Slurm's programs; "": not known */
    const char *slurm_conf; /* path of slurm.conf; "": Slurm's default */
};

/** The result of an action. */
struct order_answer {
    uint64_t number; /* number of the crossing in this run */
    size_t limit;    /* index in the list; LIMITS_ROOM: an answer to crossings_run() */
    bool ran;        /* one of Slurm's commands has run: `text` is its output, if captured */
    int status;      /* its exit status; 128 + N: ended by signal N */
    char text[256];  /* "SIGUSR1: to 2 processes" */
};

/** The receivers of signals when a step or a job crosses a limit; scancel sends the signals. */
struct reach {
    uint32_t job;
    bool script;                    /* if no step of the job runs, its script gets the signals */
    char steps[LIMIT_COMMAND_SIZE]; /* the step: " $task.0"; of several components " 17.0 18.0" */
};

/**
 * The limits of a session, a step or a job, and their crossings. The session's handler thread adds
 * crossings while another thread reads them. All members 0: there are no limits.
 */
struct crossings {
    struct limit_list limits; /* limits of nodes are added before crossings_open() */
    bool open;
    int fd; /* socket to the actor; -1: there is none */
    pid_t actor;
    int64_t unix_offset_ns; /* UTC - CLOCK_MONOTONIC */
    pthread_mutex_t mutex;  /* protects what follows */
    uint64_t total;         /* crossings so far */
    size_t count;           /* crossings in `kept`: of too many, the first half and the latest */
    struct crossings_kept {
        struct apapi_crossing crossing;
        uint64_t number;
        uint64_t asked_ns; /* when scancel was ordered; 0: it was not, or has answered */
    } kept[APAPI_CROSSINGS_MAX];
};

/**
 * Initialize, and start the actor. The calling process must have no other threads. SIGCHLD of the
 * actor's children goes to the actor alone.
 * @return 0; -1 with errno: there is no actor, and no action is carried out
 */
int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err);

/**
 * Tell the actor of one more task, which then gets signals. An order to send signals waits for at
 * most 0.1 s, other orders never wait.
 * @return 0; -1 with errno EAGAIN (too many orders at once), EPIPE
 */
int crossings_add_task(const struct crossings *crossings, pid_t pid);

/** Have the actor run a Slurm command and answer at its end. @return as crossings_add_task() */
int crossings_run(const struct crossings *crossings, const char *command);

/**
 * Set the node's limits in a session. Limits whose component is still being opened have to wait:
 * call this function again.
 * @return 0; -1 with errno as apapi_overflow_add(): a limit can never be set, and is not tried
 *         again; the others are set. `err` marks the place in the first such limit.
 */
int crossings_set(struct crossings *crossings, struct apapi_session *session,
                  struct apapi_error *err);

/** @return a limit that waits for its component; NULL: none does. */
const struct limit *crossings_waiting(const struct crossings *crossings);

/**
 * Note that a sum has crossed a limit, and have the actor carry out the actions. Any thread.
 * @param reach  NULL: too late for signals
 * @return 0; -1 with errno as crossings_add_task(): no action is carried out
 */
int crossings_cross_sum(struct crossings *crossings, const struct limit *limit,
                        const struct reach *reach);

/** Take an answer that has arrived, and add it to its crossing. @return false: there is none */
bool crossings_hear(struct crossings *crossings, struct order_answer *answer);

/** The run's tasks have ended: take all answers, and have the actor forget the tasks. */
void crossings_end_run(struct crossings *crossings);

/** Forget all crossings, for the next run. */
void crossings_forget(struct crossings *crossings);

/** Take all answers, and copy the crossings into a record without any. @return 0; -1: ENOMEM. */
int crossings_copy(struct crossings *crossings, struct apapi_record *record);

/**
 * All tasks have ended: wait `grace_ns` for commands, kill those that still run, take all answers,
 * and end the actor.
 */
void crossings_end(struct crossings *crossings);

/**
 * Write the kept crossings as a record, for the answer to a total.
 * @return one line without a newline, for free(); NULL: there are none, or there is no memory
 */
char *crossings_encode(struct crossings *crossings);

/** Add the crossings of an encoded line to a record, by time. A malformed line adds none. */
void crossings_decode(const char *line, struct apapi_record *record);

#endif
