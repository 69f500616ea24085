/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t process_stat_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    size_t length = 0;
    ssize_t got = 1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0 && length + 1 < size) {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    text[length] = '\0';
    return length;
}

#define EXITING 0x4U /* PF_EXITING of the kernel */

/* The name, in parentheses, may have any characters. */
int process_stat_read(pid_t pid, struct process_stat *stat)
{
    char text[1024];
    const char *behind;
    unsigned flags;
    int parent, session;
    char state;

    *stat = (struct process_stat){.pid = pid};
    behind = process_stat_text(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!behind ||
        sscanf(behind,
               ") %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &state, &parent, &session, &flags, &stat->started) != 5) {
        errno = ESRCH;
        return -1;
    }
    stat->ended = state == 'Z' || (flags & EXITING);
    stat->parent = parent;
    stat->session = session;
    return 0;
}

bool process_stat_is_of(pid_t pid, uid_t uid)
{
    char text[4096];
    const char *line =
        process_stat_text(pid, "status", text, sizeof text) ? strstr(text, "\nUid:") : NULL;

    return line && strtoul(line + strlen("\nUid:"), NULL, 10) == uid;
}

int process_stat_open(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

int process_stat_signal(int fd, pid_t pid, int signal)
{
#ifdef SYS_pidfd_send_signal
    if (fd >= 0) {
        return (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    }
#endif
    return kill(pid, signal);
}
