/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_PROCESS_STAT_H
#define ACTION_PROCESS_STAT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** What /proc says of a process. */
struct process_stat {
    pid_t pid, parent, session;
    bool ended;       /* or ends just now: /proc does not tell its control groups any more */
    uint64_t started; /* [clock ticks since the machine started] */
};

/** @return 0; -1 with errno ESRCH: there is no such process. */
int process_stat_read(pid_t pid, struct process_stat *stat);

/** @return whether the process runs for this real user. */
bool process_stat_is_of(pid_t pid, uid_t uid);

/** @return a pidfd, close-on-exec; -1 with errno ESRCH, or ENOSYS where the kernel has none. */
int process_stat_open(pid_t pid);

/** Send a signal by pidfd, or by number if `fd` is -1. @return 0; -1 with errno. */
int process_stat_signal(int fd, pid_t pid, int signal);

/** Read the beginning of /proc/PID/NAME as a text. @return its length; 0: it cannot be read. */
size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size);

#endif
