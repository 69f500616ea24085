/* SPDX-License-Identifier: BSD-3-Clause */
#include "action/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "action/process_stat.h"
#include "base/grow.h"

/* Hold the process before looking at it: what is seen then is of no later one. */
static int processes_hold(struct processes *processes, struct process_task *task)
{
    struct process_stat stat;

    task->fd = process_stat_open(task->pid);
    if ((task->fd < 0 && errno == ESRCH) || process_stat_read(task->pid, &stat) ||
        stat.parent != processes->parent) {
        return -1;
    }
    task->started = stat.started;
    return 0;
}

int processes_add(struct processes *processes, pid_t pid)
{
    struct process_task task = {.pid = pid, .fd = -1};

    if (array_add(&processes->tasks, processes->count, &processes->capacity,
                  sizeof *processes->tasks)) {
        return -1;
    }
    if (processes_hold(processes, &task)) {
        if (task.fd >= 0) {
            close(task.fd);
        }
        errno = ESRCH;
        return -1;
    }
    processes->tasks[processes->count++] = task;
    return 0;
}

/* Its number is not in use again as long as its pidfd reaches it. */
bool process_task_lives(const struct process_task *task)
{
    struct process_stat stat;

    return process_stat_read(task->pid, &stat) == 0 && stat.started == task->started &&
           !stat.ended &&
           !(task->fd >= 0 && process_stat_signal(task->fd, task->pid, 0) && errno == ESRCH);
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

size_t processes_signal_tasks(const struct processes *processes, int signal)
{
    size_t reached = 0;

    for (size_t i = 0; i < processes->count; i++) {
        const struct process_task *task = &processes->tasks[i];

        reached += process_task_lives(task) && process_stat_is_of(task->pid, processes->uid) &&
                   process_stat_signal(task->fd, task->pid, signal) == 0;
    }
    return reached;
}

/* --- what the tasks have started ----------------------------------------------------------------
 */

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
        const char *leaf = step + strcspn(step + 1, "/\n") + 1;

        if (strncmp(leaf, leaves[i], strlen(leaves[i])) == 0) {
            const char *from = step;

            while (from > text && *from != ':') {
                from--;
            }
            snprintf(processes->group, sizeof processes->group, "%.*s%s", (int)(leaf - from), from,
                     leaves[i]);
        }
    }
}

static bool processes_is_grouped(const struct processes *processes, pid_t pid)
{
    char text[4096];

    return processes->group[0] && process_stat_text(pid, "cgroup", text, sizeof text) &&
           strstr(text, processes->group);
}

static bool processes_is_task(const struct processes *processes, const struct process_stat *stat)
{
    for (size_t i = 0; i < processes->count; i++) {
        if (processes->tasks[i].pid == stat->pid && processes->tasks[i].started == stat->started) {
            return true;
        }
    }
    return false;
}

static void processes_look_at(const struct processes *processes, pid_t pid,
                              struct snapshot *snapshot)
{
    struct process_stat stat;

    if (process_stat_read(pid, &stat)) {
        return;
    }
    if (array_add(&snapshot->found, snapshot->count, &snapshot->capacity,
                  sizeof *snapshot->found) == 0) {
        snapshot->found[snapshot->count++] = (struct found){
            stat, processes_is_task(processes, &stat) || processes_is_grouped(processes, pid)};
    }
}

static void processes_look(const struct processes *processes, struct snapshot *snapshot)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            processes_look_at(processes, (pid_t)strtol(entry->d_name, NULL, 10), snapshot);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

static bool processes_has_our_parent(const struct snapshot *snapshot, const struct found *child)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->found[i].ours && snapshot->found[i].stat.pid == child->stat.parent) {
            return true;
        }
    }
    return false;
}

/* A child may be listed before its parent. */
static void processes_mark_descendants(struct snapshot *snapshot)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < snapshot->count; i++) {
            struct found *found = &snapshot->found[i];

            if (!found->ours && processes_has_our_parent(snapshot, found)) {
                found->ours = more = true;
            }
        }
    }
}

static bool processes_signal_found(const struct processes *processes,
                                   const struct process_stat *seen, int signal)
{
    struct process_stat now;
    int fd = process_stat_open(seen->pid);
    bool reached = process_stat_read(seen->pid, &now) == 0 && now.started == seen->started &&
                   !now.ended && process_stat_is_of(seen->pid, processes->uid) &&
                   process_stat_signal(fd, seen->pid, signal) == 0;

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
    processes_mark_descendants(&snapshot);
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
