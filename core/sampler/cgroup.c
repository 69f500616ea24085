/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "limit/actor.h"

#define MOUNT "/sys/fs/cgroup"

int cgroup_above_job(const char *path, char *parent, size_t size)
{
    const char *job = strstr(path, "/job_");
    const char *user = strstr(path, "/uid_");
    size_t length;

    if (!job) {
        return -1;
    }
    length = (size_t)((user && user < job ? user : job) - path);
    if (length == 0) {
        path = "/";
        length = 1;
    }
    if (length >= size) {
        return -1;
    }
    memcpy(parent, path, length);
    parent[length] = '\0';
    return 0;
}

static bool cgroup_enter(const char *controllers, const char *path)
{
    char file[PATH_MAX], pid[16];
    int length = snprintf(file, sizeof file, MOUNT "/%s%s/cgroup.procs", controllers, path);
    int fd, digits;
    bool entered;

    if (length < 0 || (size_t)length >= sizeof file) {
        return false;
    }
    fd = open(file, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    digits = snprintf(pid, sizeof pid, "%d", (int)getpid());
    entered = write(fd, pid, (size_t)digits) == digits;
    close(fd);
    return entered;
}

/* In the unified hierarchy only leaves hold processes. Slurm's own leaf is called system. */
static void leave_unified(const char *parent)
{
    char leaf[PATH_MAX];

    if (snprintf(leaf, sizeof leaf, "%s/system", parent) < (int)sizeof leaf &&
        !cgroup_enter("", leaf) && !cgroup_enter("", parent) && !cgroup_enter("unified", leaf)) {
        cgroup_enter("unified", parent);
    }
}

/* One line of /proc/PID/cgroup: "4:memory:/slurm/uid_0/job_7/step_0" or "0::/...". */
struct cgroup_line {
    char *controllers, *path; /* within the line */
};

static bool cgroup_split(char *line, struct cgroup_line *parts)
{
    parts->controllers = strchr(line, ':');
    parts->path = parts->controllers ? strchr(parts->controllers + 1, ':') : NULL;
    if (!parts->path) {
        return false;
    }
    *parts->path++ = '\0';
    parts->controllers++;
    if (strncmp(parts->controllers, "name=", strlen("name=")) == 0) {
        parts->controllers += strlen("name=");
    }
    return true;
}

static void cgroup_leave(const struct cgroup_line *line)
{
    char parent[PATH_MAX];

    if (cgroup_above_job(line->path, parent, sizeof parent)) {
        return;
    }
    if (*line->controllers == '\0') {
        leave_unified(parent);
    } else {
        cgroup_enter(line->controllers, parent);
    }
}

/* Those outside of a job are the machine's. */
static void cgroup_follow(const struct cgroup_line *line)
{
    if (strstr(line->path, "/job_") && !cgroup_enter(line->controllers, line->path) &&
        *line->controllers == '\0') {
        cgroup_enter("unified", line->path);
    }
}

static void cgroup_each(const char *groups, void (*visit)(const struct cgroup_line *line))
{
    char text[CGROUP_TEXT_SIZE], *rest = text, *line;
    struct cgroup_line parts;

    snprintf(text, sizeof text, "%s", groups);
    while ((line = strsep(&rest, "\n"))) {
        if (cgroup_split(line, &parts)) {
            visit(&parts);
        }
    }
}

int cgroup_read(pid_t pid, char groups[CGROUP_TEXT_SIZE])
{
    size_t length = process_stat_text(pid, "cgroup", groups, CGROUP_TEXT_SIZE);

    return length > 0 && length < CGROUP_TEXT_SIZE - 1 ? 0 : -1;
}

void cgroup_leave_job(void)
{
    char own[CGROUP_TEXT_SIZE];

    if (cgroup_read(getpid(), own) == 0) {
        cgroup_each(own, cgroup_leave);
    }
}

static bool cgroup_has(const char *groups, const char *line, size_t length)
{
    size_t own;

    for (; *groups; groups += own + (groups[own] == '\n')) {
        own = strcspn(groups, "\n");
        if (own == length && strncmp(groups, line, length) == 0) {
            return true;
        }
    }
    return false;
}

int cgroup_join(const char *groups)
{
    char own[CGROUP_TEXT_SIZE];
    size_t length;

    cgroup_each(groups, cgroup_follow);
    if (cgroup_read(getpid(), own)) {
        return -1;
    }
    for (; *groups; groups += length + (groups[length] == '\n')) {
        const char *job = strstr(groups, "/job_");

        length = strcspn(groups, "\n");
        if (job && job < groups + length && !cgroup_has(own, groups, length)) {
            return -1;
        }
    }
    return 0;
}
