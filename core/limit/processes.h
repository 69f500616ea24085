/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_PROCESSES_H
#define LIMIT_PROCESSES_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Read the beginning of /proc/PID/NAME as a text. @return its length; 0: it cannot be read. */
size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size);

/** A process as /proc describes it. */
struct process {
    pid_t pid;
    int fd;           /* pidfd; -1: it is not held, or the kernel has none */
    uint64_t started; /* [clock ticks since the machine started] */
    pid_t parent, session;
    bool ended; /* or ends just now: /proc does not tell its control groups any more */
};

/** @return whether it has not ended: what was read of /proc/PID before is of this task. */
bool process_lives(const struct process *task);

/**
 * Tasks, and what they have started. A signal goes to no other, even if the number of one of them
 * is in use again: each is held by a pidfd, or, where the kernel has none, known by its start time.
 */
struct processes {
    uid_t uid;    /* real user of all of them; 0: root's have any */
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

/** Send a signal to the tasks alone. @return how many it has reached */
size_t processes_signal(const struct processes *processes, int signal);

/**
 * The same to the tasks and all that they have started and that can be found.
 * @param spared  whether a session gets none
 */
size_t processes_signal_all(struct processes *processes, int signal, bool (*spared)(pid_t session));

/** Give everything back. */
void processes_clear(struct processes *processes);

#endif
