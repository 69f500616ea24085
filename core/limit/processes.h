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
    int fd;           /* pidfd; -1: it was not opened, or the kernel has none */
    uint64_t started; /* [clock ticks since the machine started] */
    pid_t parent, session;
    bool ended; /* or is just exiting: /proc no longer shows its control groups */
};

/** @return whether the task still runs: if so, what was read of /proc/PID before is of it. */
bool process_lives(const struct process *task);

/**
 * Tasks, and the processes that they have started. A signal goes to no other process, even if a PID
 * is used again: each is held by a pidfd or, where the kernel has none, known by its start time.
 */
struct processes {
    uid_t uid;            /* real user of the processes; 0: any user */
    pid_t parent;         /* parent of the tasks */
    bool grouped;         /* processes are also found by the control group of the step */
    char group[PATH_MAX]; /* control group of the step; "": not known yet */
    size_t count, capacity;
    struct process *tasks;
};

/** Add a task. @return 0; -1 with errno ESRCH (ended, or no child of `parent`), ENOMEM. */
int processes_add(struct processes *processes, pid_t pid);

/** @return a task that has not ended, valid until a task is added; NULL: there is none. */
const struct process *processes_any(const struct processes *processes);

/** Send a signal to the tasks alone. @return how many it has reached */
size_t processes_signal(const struct processes *processes, int signal);

/**
 * Like processes_signal(), to the tasks and all processes found that they have started.
 * @param spared  returns whether a session gets no signal
 */
size_t processes_signal_all(struct processes *processes, int signal, bool (*spared)(pid_t session));

/** Free the list, and close the pidfds. */
void processes_clear(struct processes *processes);

#endif
