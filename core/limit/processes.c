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
    if (fd >= 0) {
        close(fd);
    }
    text[length] = '\0';
    return length;
}

/* The name, in parentheses, may have any characters. */
int process_stat_read(pid_t pid, struct process_stat *stat)
{
    char text[1024];
    const char *behind;
    unsigned flags;
    char state;

    *stat = (struct process_stat){.pid = pid};
    behind = process_stat_text(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!behind ||
        sscanf(behind,
               ") %c %d %*d %d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
               "%" SCNu64,
               &state, &stat->parent, &stat->session, &flags, &stat->started) != 5) {
        errno = ESRCH;
        return -1;
    }
    stat->ended = state == 'Z' || (flags & EXITING);
    return 0;
}

/* A pidfd, close-on-exec; -1 with errno ESRCH, or ENOSYS where the kernel has none. */
static int process_open(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

/* By pidfd, or by number if `fd` is -1. */
static int process_signal(int fd, pid_t pid, int signal)
{
#ifdef SYS_pidfd_send_signal
    if (fd >= 0) {
        return (int)syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
    }
#endif
    return kill(pid, signal);
}

/* Its number is not in use again as long as its pidfd reaches it. */
bool process_task_lives(const struct process_task *task)
{
    struct process_stat stat;

    return process_stat_read(task->pid, &stat) == 0 && stat.started == task->started &&
           !stat.ended &&
           !(task->fd >= 0 && process_signal(task->fd, task->pid, 0) && errno == ESRCH);
}

/* Hold the process before looking at it: what is seen then is of no later one. */
int processes_add(struct processes *processes, pid_t pid)
{
    struct process_task task = {.pid = pid};
    struct process_stat stat;

    if (array_add(&processes->tasks, processes->count, &processes->capacity,
                  sizeof *processes->tasks)) {
        return -1;
    }
    task.fd = process_open(pid);
    if ((task.fd < 0 && errno == ESRCH) || process_stat_read(pid, &stat) ||
        stat.parent != processes->parent) {
        if (task.fd >= 0) {
            close(task.fd);
        }
        errno = ESRCH;
        return -1;
    }
    task.started = stat.started;
    processes->tasks[processes->count++] = task;
    return 0;
}

const struct process_task *processes_any(const struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (process_task_lives(&processes->tasks[i])) {
            return &processes->tasks[i];
        }
    }
    return NULL;
}

/* Whether it runs for this real user, whose processes alone get signals. */
static bool process_is_of(pid_t pid, uid_t uid)
{
    char text[4096];
    const char *line =
        process_stat_text(pid, "status", text, sizeof text) ? strstr(text, "\nUid:") : NULL;

    return line && strtoul(line + strlen("\nUid:"), NULL, 10) == uid;
}

size_t processes_signal_tasks(const struct processes *processes, int signal)
{
    size_t reached = 0;

    for (size_t i = 0; i < processes->count; i++) {
        const struct process_task *task = &processes->tasks[i];

        reached += process_task_lives(task) && process_is_of(task->pid, processes->uid) &&
                   process_signal(task->fd, task->pid, signal) == 0;
    }
    return reached;
}

/* --- what the tasks have started -------------------------------------------------------------- */

struct found {
    struct process_stat stat;
    bool ours;
};

struct snapshot {
    struct found *found;
    size_t count, capacity;
};

/* The step's own part of "0::/slurm/job_7/step_0/user/task_0": without Slurm's own processes. */
static void processes_find_group(struct processes *processes)
{
    static const char *const leaves[] = {"/user", "/task_"};
    const struct process_task *task = processes_any(processes);
    char text[4096];
    const char *step;

    if (processes->group[0] || !processes->grouped || !task ||
        !process_stat_text(task->pid, "cgroup", text, sizeof text) || !process_task_lives(task)) {
        return;
    }
    step = strstr(text, "/job_");
    step = step ? strstr(step, "/step_") : NULL;
    for (size_t i = 0; step && i < sizeof leaves / sizeof *leaves; i++) {
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

/* A task, or of the step's control group. */
static bool processes_has(const struct processes *processes, const struct process_stat *stat)
{
    char text[4096];

    for (size_t i = 0; i < processes->count; i++) {
        if (processes->tasks[i].pid == stat->pid && processes->tasks[i].started == stat->started) {
            return true;
        }
    }
    return processes->group[0] && process_stat_text(stat->pid, "cgroup", text, sizeof text) &&
           strstr(text, processes->group);
}

static void processes_look(const struct processes *processes, struct snapshot *snapshot)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        struct process_stat stat;

        if (isdigit((unsigned char)entry->d_name[0]) &&
            process_stat_read((pid_t)strtol(entry->d_name, NULL, 10), &stat) == 0 &&
            array_add(&snapshot->found, snapshot->count, &snapshot->capacity,
                      sizeof *snapshot->found) == 0) {
            snapshot->found[snapshot->count++] =
                (struct found){stat, processes_has(processes, &stat)};
        }
    }
    if (folder) {
        closedir(folder);
    }
}

static bool snapshot_has_parent(const struct snapshot *snapshot, const struct found *child)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->found[i].ours && snapshot->found[i].stat.pid == child->stat.parent) {
            return true;
        }
    }
    return false;
}

/* A child may be listed before its parent. */
static void snapshot_mark_descendants(struct snapshot *snapshot)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < snapshot->count; i++) {
            struct found *found = &snapshot->found[i];

            if (!found->ours && snapshot_has_parent(snapshot, found)) {
                found->ours = more = true;
            }
        }
    }
}

static bool processes_signal_found(const struct processes *processes,
                                   const struct process_stat *seen, int signal)
{
    struct process_stat now;
    int fd = process_open(seen->pid);
    bool reached = process_stat_read(seen->pid, &now) == 0 && now.started == seen->started &&
                   !now.ended && process_is_of(seen->pid, processes->uid) &&
                   process_signal(fd, seen->pid, signal) == 0;

    if (fd >= 0) {
        close(fd);
    }
    return reached;
}

size_t processes_signal_all(struct processes *processes, int signal, processes_spare_f spare,
                            const void *context)
{
    struct snapshot snapshot = {NULL, 0, 0};
    size_t reached = 0;

    processes_find_group(processes);
    processes_look(processes, &snapshot);
    snapshot_mark_descendants(&snapshot);
    for (size_t i = 0; i < snapshot.count; i++) {
        const struct process_stat *stat = &snapshot.found[i].stat;

        if (snapshot.found[i].ours && stat->pid != processes->parent && stat->pid != getpid() &&
            !spare(stat->session, context)) {
            reached += processes_signal_found(processes, stat, signal);
        }
    }
    free(snapshot.found);
    return reached;
}

void processes_clear(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->tasks[i].fd >= 0) {
            close(processes->tasks[i].fd);
        }
    }
    free(processes->tasks);
    processes->tasks = NULL;
    processes->count = processes->capacity = 0;
}
