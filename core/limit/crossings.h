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
 * Crossings: kept for the record, and told to the actor, a process beside the one that measures or
 * adds up, which does what a crossed limit asks for. Nothing that hangs there holds up a reading.
 * Both are the same program.
 */

/* --- commands --------------------------------------------------------------------------------- */

/** Exit status of a process that could not do it beside its task. */
#define JOB_NOT_DONE 126

/** The task of a new process. */
struct job_launch {
    const struct processes *tasks; /* beside one of which it runs */
    bool prints;   /* `text` is a line for the standard error of the task; else a command */
    bool of_slurm; /* the command is Slurm's: nothing of the task's environment is for it */
    const char *text;
    int output; /* of Slurm's command; -1: no output is kept */
};

/**
 * Become it. Runs in the new process, which leads a session and a group, and whose environment has
 * APAPI_OVERFLOW_COUNT and so on, or is what Slurm's commands need. Returns on failure.
 */
typedef void (*job_launch_f)(const struct job_launch *launch, const void *context);

/**
 * In a new process: give it nothing to read, let it write to `output`, and close everything else.
 * @param output  a descriptor; -1: /dev/null
 */
void shell_plug(int output);

/** Become `/bin/sh -c COMMAND`. Returns on failure. */
void shell_become(const char *command);

/* --- crossings -------------------------------------------------------------------------------- */

#define KILL_WAIT_S 30 /* KillWait of Slurm, if it is not known */

/** The settings of an actor. Borrowed until crossings_open() returns. */
struct actor_config {
    const char *node;      /* for lines and variables */
    const char *said_by;   /* "apapi", before each line; NULL: lines are printed elsewhere */
    int line_fd;           /* where lines go; -1: launch() prints them */
    uid_t uid;             /* real user of the processes that may get signals */
    pid_t parent;          /* of the tasks */
    bool grouped;          /* as struct processes has it */
    bool bare;             /* commands have nothing of this environment */
    bool captures;         /* answers have the output of Slurm's commands */
    uint64_t kill_wait_ns; /* between SIGTERM and SIGKILL of the action term [ns] */
    uint64_t grace_ns;     /* at the end, for commands that still run [ns]; 0: 0.1 s */
    void (*settle)(void);  /* called first in the actor; NULL: not needed */
    job_launch_f launch;
    const void *context;    /* for launch() */
    const char *slurm_bin;  /* folder of a program of Slurm's; "": not known */
    const char *slurm_conf; /* the same; "": where Slurm has it */
};

/** The result of an action. */
struct order_answer {
    uint64_t number; /* of the crossing in this run */
    size_t limit;    /* in the list; LIMITS_ROOM: of crossings_run() */
    bool ran;        /* by Slurm's command: `text` is what that has written, if that is wanted */
    int status;      /* its exit status; 128 + N: ended by signal N */
    char text[256];  /* "SIGUSR1: to 2 processes" */
};

/** The receivers of signals at the limit of a step or a job: scancel sends them. */
struct reach {
    uint32_t job;
    bool script;                    /* without steps of the job, its script gets them */
    char steps[LIMIT_COMMAND_SIZE]; /* " 17.0 18.0", the parts of the step; " $task.0": of `job` */
};

/**
 * The limits of a session, a step or a job, and what was crossed. The session's thread for
 * handlers adds to it while another thread reads it. All members 0: there are none.
 */
struct crossings {
    struct limit_list limits; /* those of nodes are there before crossings_open() */
    bool open;
    int fd; /* of the actor; -1: there is none */
    pid_t actor;
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
 * Begin, and start the actor. The calling process must have no other threads. SIGCHLD of the
 * actor's children goes to the actor alone.
 * @return 0; -1 with errno: what is crossed is only noted.
 */
int crossings_open(struct crossings *crossings, const struct actor_config *config,
                   struct apapi_error *err);

/**
 * There is one more task, which gets signals. Never waits, as all orders but those of signals,
 * which wait for at most 0.1 s.
 * @return 0; -1 with errno EAGAIN (too many orders at once), EPIPE
 */
int crossings_add_task(const struct crossings *crossings, pid_t pid);

/** Have a command of Slurm's run, which answers with its end. @return as crossings_add_task() */
int crossings_run(const struct crossings *crossings, const char *command);

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
 * A sum has crossed a limit: note that, and have the actor do what is to be done. Any thread.
 * @param reach  NULL: too late for signals
 * @return 0; -1 with errno as crossings_add_task(): nothing was done
 */
int crossings_cross_sum(struct crossings *crossings, const struct limit *limit,
                        const struct reach *reach);

/** Take an answer that has arrived, and note it at its crossing. @return false: there is none */
bool crossings_hear(struct crossings *crossings, struct order_answer *answer);

/** No task of this run runs any more: hear what came of its crossings. The actor forgets them. */
void crossings_end_run(struct crossings *crossings);

/** Forget what was crossed, for the next run. */
void crossings_forget(struct crossings *crossings);

/** Hear what came of actions, and copy everything into a record without any. 0; -1: ENOMEM. */
int crossings_copy(struct crossings *crossings, struct apapi_record *record);

/**
 * No task runs any more: let commands that are just ending end, kill the others, hear all answers,
 * and end the actor.
 */
void crossings_end(struct crossings *crossings);

/**
 * Write those that are kept as a record, for the answer to a total.
 * @return one line without a newline, for free(); NULL: there are none, or there is no memory
 */
char *crossings_encode(struct crossings *crossings);

/** Add those of such a line to a record, in the order of time. A malformed one is left out. */
void crossings_decode(const char *line, struct apapi_record *record);

#endif
