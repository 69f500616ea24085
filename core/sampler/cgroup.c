/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void cgroup_each(const char *file, void (*visit)(const struct cgroup_line *line))
{
    char text[PATH_MAX];
    struct cgroup_line line;
    FILE *lines = fopen(file, "re");

    while (lines && fgets(text, sizeof text, lines)) {
        text[strcspn(text, "\n")] = '\0';
        if (cgroup_split(text, &line)) {
            visit(&line);
        }
    }
    if (lines) {
        fclose(lines);
    }
}

void cgroup_leave_job(void)
{
    cgroup_each("/proc/self/cgroup", cgroup_leave);
}

void cgroup_join(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    cgroup_each(path, cgroup_follow);
}
