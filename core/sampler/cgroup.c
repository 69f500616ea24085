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

/* One line of /proc/self/cgroup: "4:memory:/slurm/uid_0/job_7/step_0" or "0::/...". */
static void cgroup_leave(char *line)
{
    char parent[PATH_MAX];
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path || cgroup_above_job(path + 1, parent, sizeof parent)) {
        return;
    }
    *path = '\0';
    controllers++;
    if (*controllers == '\0') {
        leave_unified(parent);
    } else if (strncmp(controllers, "name=", strlen("name=")) == 0) {
        cgroup_enter(controllers + strlen("name="), parent);
    } else {
        cgroup_enter(controllers, parent);
    }
}

void cgroup_leave_job(void)
{
    char line[PATH_MAX];
    FILE *file = fopen("/proc/self/cgroup", "re");

    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        cgroup_leave(line);
    }
    if (file) {
        fclose(file);
    }
}
