/* SPDX-License-Identifier: BSD-3-Clause */
#include "limit/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"

#define EXITING 0x4U /* PF_EXITING of the kernel */

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
    folder_close(fd);
    text[length] = '\0';
    return length;
}

/* Read /proc/PID/stat. The name, in (), may have any bytes. @return 0; -1 with errno ESRCH */
static int process_read(pid_t pid, struct process *process)
{
    char text[1024];
    const char *behind;
    unsigned flags;
    char state;

    *process = (struct process){.pid = pid, .fd = -1};
    behind = process_stat_text(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!behind ||
        sscanf(behind,
               ") %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &state, &process->parent, &process->session, &flags, &process->started) != 5) {
        errno = ESRCH;
        return -1;
    }
    process->ended = state == 'Z' || (flags & EXITING);
    return 0;
}

/* @return a pidfd, close-on-exec; -1 with errno ESRCH, or ENOSYS: the kernel has none */
static int process_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

/* Send a signal by the pidfd, or by the PID if there is no pidfd. */
static int process_signal(const struct process *process, int signal)
{
#ifdef SYS_pidfd_send_signal
    if (process->fd >= 0) {
        return (int)syscall(SYS_pidfd_send_signal, process->fd, signal, NULL, 0);
    }
#endif
    return kill(process->pid, signal);
}

/* As long as the pidfd reaches the process, its PID is not in use again. */
bool process_lives(const struct process *process)
{
    struct process now;

    return process_read(process->pid, &now) == 0 && now.started == process->started && !now.ended &&
           !(process->fd >= 0 && process_signal(process, 0) && errno == ESRCH);
}

/* The pidfd is opened before /proc is read: what is read is then of no later process. */
int processes_add(struct processes *processes, pid_t pid)
{
    struct process task;
    int fd;

    if (array_add(&processes->tasks, processes->count, &processes->capacity,
                  sizeof *processes->tasks)) {
        return -1;
    }
    fd = process_pidfd(pid);
    if ((fd < 0 && errno == ESRCH) || process_read(pid, &task) ||
        task.parent != processes->parent) {
        folder_close(fd);
        errno = ESRCH;
        return -1;
    }
    task.fd = fd;
    processes->tasks[processes->count++] = task;
    return 0;
}

const struct process *processes_any(const struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (process_lives(&processes->tasks[i])) {
            return &processes->tasks[i];
        }
    }
    return NULL;
}

/* @return whether the process has this real user: only such processes get signals. */
static bool process_is_of(pid_t pid, uid_t uid)
{
    char text[4096];
    const char *line =
        process_stat_text(pid, "status", text, sizeof text) ? strstr(text, "\nUid:") : NULL;

    return line && strtoul(line + strlen("\nUid:"), NULL, 10) == uid;
}

static bool processes_signal_one(const struct processes *processes, const struct process *one,
                                 int signal)
{
    return process_lives(one) && (processes->uid == 0 || process_is_of(one->pid, processes->uid)) &&
           process_signal(one, signal) == 0;
}

size_t processes_signal(const struct processes *processes, int signal)
{
    size_t reached = 0;

    for (size_t i = 0; i < processes->count; i++) {
        reached += processes_signal_one(processes, &processes->tasks[i], signal);
    }
    return reached;
}

/* --- what the tasks have started -------------------------------------------------------------- */

/* Keep ":/slurm/job_7/step_0/user" of ".../user/task_0": Slurm's own processes are outside it. */
static void processes_find_group(struct processes *processes)
{
    static const char *const leaves[] = {"/user", "/task_"};
    const struct process *task = processes_any(processes);
    char text[4096];
    const char *step;

    if (processes->group[0] || !processes->grouped || !task ||
        !process_stat_text(task->pid, "cgroup", text, sizeof text) || !process_lives(task)) {
        return;
    }
    step = strstr(text, "/job_");
    step = step ? strstr(step, "/step_") : NULL;
    for (size_t i = 0; step && i < COUNT_OF(leaves); i++) {
        const char *leaf = step + strcspn(step + 1, "/\n") + 1, *from = step;

        if (strncmp(leaf, leaves[i], strlen(leaves[i])) == 0) {
            while (from > text && *from != ':') {
                from--;
            }
            snprintf(processes->group, sizeof processes->group, "%.*s%s", (int)(leaf - from), from,
                     leaves[i]);
        }
    }
}

/* @return whether it is a task, in the step's control group, or started by such a process. */
static bool processes_has(const struct processes *processes, struct process one)
{
    char text[4096];

    do {
        for (size_t i = 0; i < processes->count; i++) {
            if (processes->tasks[i].pid == one.pid && processes->tasks[i].started == one.started) {
                return true;
            }
        }
        if (processes->group[0] && process_stat_text(one.pid, "cgroup", text, sizeof text) &&
            strstr(text, processes->group)) {
            return true;
        }
    } while (process_read(one.parent, &one) == 0);
    return false;
}

/* Find all processes_has() in /proc. @param all  result, to be freed. @return their number */
static size_t processes_look(const struct processes *processes, struct process **all)
{
    DIR *folder = opendir("/proc");
    size_t count = 0, capacity = 0;
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        struct process one;

        if (isdigit((unsigned char)entry->d_name[0]) &&
            process_read((pid_t)strtol(entry->d_name, NULL, 10), &one) == 0 &&
            processes_has(processes, one) && array_add(all, count, &capacity, sizeof **all) == 0) {
            (*all)[count++] = one;
        }
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

size_t processes_signal_all(struct processes *processes, int signal, bool (*spared)(pid_t session))
{
    struct process *all = NULL;
    size_t reached = 0, count;

    processes_find_group(processes);
    count = processes_look(processes, &all);
    for (struct process *one = all; one < all + count; one++) {
        if (one->pid != processes->parent && one->pid != getpid() && !spared(one->session)) {
            one->fd = process_pidfd(one->pid);
            reached += processes_signal_one(processes, one, signal);
            folder_close(one->fd);
        }
    }
    free(all);
    return reached;
}

void processes_clear(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        folder_close(processes->tasks[i].fd);
    }
    free(processes->tasks);
    processes->tasks = NULL;
    processes->count = processes->capacity = 0;
}
