/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/process.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_AGAIN_NS 100000000

static int open_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    errno = ENOSYS;
    return -1;
#endif
}

/* EPERM: the process exists and belongs to another user. */
static bool atime_process_is_there(pid_t pid)
{
    return kill(pid, 0) == 0 || errno == EPERM;
}

int process_open(pid_t pid, struct process *process, struct apapi_error *err)
{
    int fd = open_pidfd(pid);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
        return apapi_fail(err, errno, "process %d: %s", (int)pid, strerror(errno));
    }
    /* EINVAL: a thread's number. Other errors: no such system call, or a container forbids it. */
    if (fd < 0 && (errno == ESRCH || errno == EINVAL || !atime_process_is_there(pid))) {
        return apapi_fail(err, ESRCH, "there is no process %d", (int)pid);
    }
    *process = (struct process){.pid = pid, .fd = fd};
    return 0;
}

void process_wait(const struct process *process, const struct signals *signals)
{
    const struct timespec again = {.tv_nsec = ASK_AGAIN_NS};
    struct pollfd ended = {.fd = process->fd, .events = POLLIN};

    signals_close();
    if (process->fd >= 0) {
        while (ppoll(&ended, 1, NULL, &signals->mask) < 0 && errno != EINTR) {
        }
        return;
    }
    while (atime_process_is_there(process->pid) && ppoll(NULL, 0, &again, &signals->mask) == 0) {
    }
}

void process_name(pid_t pid, char *name, size_t size)
{
    char path[32];
    FILE *file;

    name[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    file = fopen(path, "re");
    if (!file) {
        return;
    }
    if (fgets(name, (int)size, file)) {
        name[strcspn(name, "\n")] = '\0';
    }
    fclose(file);
}

void process_close(const struct process *process)
{
    if (process->fd >= 0) {
        close(process->fd);
    }
}
