/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_ACTOR_H
#define LIMIT_ACTOR_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "apapi/error.h"
#include "apapi/record.h"
#include "limit/limit.h"

/*
 * The actor: a process beside the one that measures or adds up, which does what a crossed limit
 * asks for. Nothing that hangs there holds up a reading. Both are the same program.
 */

/* --- processes -------------------------------------------------------------------------------- */

/** Read the beginning of /proc/PID/NAME as a text. @return its length; 0: it cannot be read. */
size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size);

/** A process as /proc describes it. */
struct process {
    pid_t pid;
    int fd;           /* pidfd; -1: it is not held, or the kernel has none */
    uint64_t started; /* [clock ticks since the machine started] */
    pid_t parent, session;
    bool ended; /* or ends just now: /proc does not tell its control groups any more */
    bool ours;  /* a task, or started by one */
};

/** @return whether it has not ended: what was read of /proc/PID before is of this task. */
bool process_lives(const struct process *task);

/**
 * Tasks, and what they have started. A signal goes to no other, even if the number of one of them
 * is in use again: each is held by a pidfd, or, where the kernel has none, known by its start time.
 */
struct processes {
    uid_t uid;    /* real user of all of them */
    pid_t parent; /* of the tasks */
    bool grouped; /* what a task has started is found by the control group of its step, too */
    char group[PATH_MAX]; /* of the step, once it is known */
    size_t count, capacity;
    struct process *tasks;
};

/** Add a task. 0; -1 with errno ESRCH: it has ended, or is no child of `parent`; ENOMEM. */
int processes_add(struct processes *processes, pid_t pid);

/** @return a task that has not ended, valid until one is added; NULL: there is none. */
const struct process *processes_any(const struct processes *processes);

/** Give everything back. */
void processes_clear(struct processes *processes);

/* --- commands --------------------------------------------------------------------------------- */

/** Exit status of a process that could not do it beside its task. */
#define JOB_NOT_DONE 126

/** The task of a new process. */
struct job_launch {
    const struct processes *tasks; /* beside one of which it runs */
    bool prints; /* `text` is a line for the standard error of the task; else a command */
    const char *text;
    char *const *variables; /* "APAPI_OVERFLOW_COUNT=1", ends with a NULL */
    int output;             /* of Slurm's command; -1: no output is kept */
};

/** Become it. Runs in the new process, which leads a session and a group. Returns on failure. */
typedef void (*job_launch_f)(const struct job_launch *launch, const void *context);

/**
 * In a new process: give it nothing to read, let it write to `output`, and close everything else.
 * @param output  a descriptor; -1: /dev/null
 */
void shell_plug(int output);

/**
 * Become `/bin/sh -c COMMAND`. Returns on failure.
 * @param variables  added to the environment, as for execve(); must stay valid
 */
void shell_become(const char *command, char *const *variables);

/* --- orders ----------------------------------------------------------------------------------- */

enum order_kind {
    ORDER_TASK,    /* there is one more task: `pid` */
    ORDER_CROSSED, /* a limit was crossed: its actions. scancel sends signals of steps and jobs */
    ORDER_RUN,     /* run `text` as a command, and answer with its end */
    ORDER_END      /* no task runs any more */
};

/** To the actor. */
struct order {
    enum order_kind kind;
    pid_t pid;
    uint64_t number;                /* of the crossing in this run, for the answer */
    size_t limit;                   /* in the list */
    struct apapi_crossing crossing; /* without `action` and `result` */
    /* at the limit of a step or a job, which may be younger than the actor: */
    uint32_t job; /* that gets signals; 0: it is too late for them */
    bool script;  /* without steps of the job, its script gets them */
    bool whole_job, term;
    int signal;                    /* 0: none but those of `term` */
    char text[LIMIT_COMMAND_SIZE]; /* of ORDER_RUN; " 17.0 18.0", the parts of the step */
};

/** From the actor: what came of an action. */
struct order_answer {
    uint64_t number;
    size_t limit;   /* as in the order */
    bool ran;       /* by Slurm's command: `text` is what that has written, if that is wanted */
    int status;     /* its exit status; 128 + N: ended by signal N */
    char text[256]; /* "SIGUSR1: to 2 processes" */
};

#define KILL_WAIT_S 30 /* KillWait of Slurm, if it is not known */

/** The settings of an actor. Borrowed until actor_start() returns. */
struct actor_config {
    const struct limit_list *limits;
    const char *node;      /* for lines and variables */
    const char *said_by;   /* "apapi", before each line; NULL: lines are printed elsewhere */
    int line_fd;           /* where lines go; -1: launch() prints them */
    uid_t uid;             /* real user of the processes that may get signals */
    pid_t parent;          /* of the tasks */
    bool grouped;          /* as struct processes has it */
    bool captures;         /* answers have the output of Slurm's commands */
    uint64_t kill_wait_ns; /* between SIGTERM and SIGKILL of the action term [ns] */
    uint64_t grace_ns;     /* at the end, for commands that still run [ns]; 0: 0.1 s */
    void (*settle)(void);  /* called first in the actor; NULL: not needed */
    job_launch_f launch;
    const void *context;    /* for launch() */
    const char *slurm_bin;  /* folder of a program of Slurm's; "": not known */
    const char *slurm_conf; /* the same; "": where Slurm has it */
};

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
