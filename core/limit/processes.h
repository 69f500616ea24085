/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LIMIT_PROCESSES_H
#define LIMIT_PROCESSES_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The processes that may get signals: tasks, and what tasks have started. */

/** What /proc says of a process. */
struct process_stat {
    pid_t pid, parent, session;
    bool ended;       /* or ends just now: /proc does not tell its control groups any more */
    uint64_t started; /* [clock ticks since the machine started] */
};

/** @return 0; -1 with errno ESRCH: there is no such process. */
int process_stat_read(pid_t pid, struct process_stat *stat);

/** Read the beginning of /proc/PID/NAME as a text. @return its length; 0: it cannot be read. */
size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size);

/** A task. */
struct process_task {
    pid_t pid;
    int fd; /* pidfd; -1: the kernel has none */
    uint64_t started;
};

/** @return whether it has not ended: what was read of /proc/PID before is of this task. */
bool process_task_lives(const struct process_task *task);

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
    struct process_task *tasks;
};

/** Add a task. 0; -1 with errno ESRCH: it has ended, or is no child of `parent`; ENOMEM. */
int processes_add(struct processes *processes, pid_t pid);

/** @return a task that has not ended, valid until one is added; NULL: there is none. */
const struct process_task *processes_any(const struct processes *processes);

/** Send a signal to each task that has not ended. @return their number. */
size_t processes_signal_tasks(const struct processes *processes, int signal);

/** Whether to leave out a process of this session. */
typedef bool (*processes_spare_f)(pid_t session, const void *context);

/**
 * Send a signal to the tasks and to everything that they have started and that can be found, once
 * each. @return the number of processes
 */
size_t processes_signal_all(struct processes *processes, int signal, processes_spare_f spare,
                            const void *context);

/** Give everything back. */
void processes_clear(struct processes *processes);

#endif
