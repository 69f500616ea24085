/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count_of.h"
#include "base/duration.h"
#include "base/folder.h"
#include "base/kernel_file.h"

#define CGROUPS_MOUNT "/sys/fs/cgroup"
#define TEXT_SIZE 4096
#define NS_PER_US 1000

/* Best first. %s: the node's name, which slurmd has where several of them may run on a machine. */
static const struct layout {
    const char *steps, *cores, *root;
    bool unified, counts;
} layouts[] = {
    {"/system.slice/%s_slurmstepd.scope", "/system.slice/%s_slurmstepd.scope", "", true, true},
    {"/system.slice/slurmstepd.scope", "/system.slice/slurmstepd.scope", "", true, true},
    {"/cpuacct/slurm_%s", "/cpuset/slurm_%s", "/cpuacct", false, true},
    {"/cpuacct/slurm", "/cpuset/slurm", "/cpuacct", false, true},
    {"/freezer/slurm_%s", "/cpuset/slurm_%s", "/cpuacct", false, false},
    {"/freezer/slurm", "/cpuset/slurm", "/cpuacct", false, false},
};

static void cgroups_path(char path[CGROUP_PATH_SIZE], const char *pattern, const char *node)
{
    const char *mark = strstr(pattern, "%s");
    char whole[CGROUP_PATH_SIZE];
    int before = mark ? (int)(mark - pattern) : (int)strlen(pattern);

    snprintf(whole, sizeof whole, "%s%.*s%s%s", CGROUPS_MOUNT, before, pattern, mark ? node : "",
             mark ? mark + 2 : "");
    kernel_file_path(path, CGROUP_PATH_SIZE, whole);
}

bool cgroups_find(struct cgroups *groups, const char *node)
{
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        cgroups_path(groups->steps, layouts[i].steps, node);
        if (access(groups->steps, X_OK) == 0) {
            cgroups_path(groups->cores, layouts[i].cores, node);
            cgroups_path(groups->root, layouts[i].root, node);
            groups->unified = layouts[i].unified;
            groups->counts = layouts[i].counts;
            return true;
        }
    }
    return false;
}

void cgroups_entries(int folder, void (*visit)(int folder, const char *name, void *context),
                     void *context)
{
    _Alignas(struct dirent64) char entries[TEXT_SIZE];
    ssize_t size;

    while ((size = getdents64(folder, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(entries + at);

            if (entry->d_name[0] != '.') {
                visit(folder, entry->d_name, context);
            }
            at += entry->d_reclen;
        }
    }
}

/* @return the text's length; -1 */
static ssize_t cgroups_read(int folder, const char *name, char text[TEXT_SIZE])
{
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, TEXT_SIZE - 1);

    folder_close(file);
    text[size > 0 ? size : 0] = '\0';
    return size;
}

/* "usage_usec 1234" in cpu.stat. */
static uint64_t cgroups_unified_cpu_ns(int folder)
{
    char text[TEXT_SIZE];
    const char *found;

    if (cgroups_read(folder, "cpu.stat", text) <= 0) {
        return CGROUP_CPU_UNKNOWN;
    }
    found = strstr(text, "usage_usec ");
    return found ? strtoull(found + strlen("usage_usec "), NULL, 10) * NS_PER_US
                 : CGROUP_CPU_UNKNOWN;
}

static uint64_t cgroups_cpu_ns(int folder, bool unified)
{
    uint64_t cpu_ns;

    if (unified) {
        return cgroups_unified_cpu_ns(folder);
    }
    return kernel_file_read_u64_at(folder, "cpuacct.usage", &cpu_ns) ? CGROUP_CPU_UNKNOWN : cpu_ns;
}

uint64_t cgroups_root_cpu_ns(const struct cgroups *groups)
{
    int folder = open(groups->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t cpu_ns = folder < 0 ? CGROUP_CPU_UNKNOWN : cgroups_cpu_ns(folder, groups->unified);

    folder_close(folder);
    return cpu_ns;
}

/* The way down. */
struct walk {
    const struct cgroups *groups;
    void (*visit)(const struct cgroup_step *step, void *context);
    void *context;
    struct cgroup_step step;
};

static bool cgroups_number(const char *name, const char *prefix, uint32_t *number)
{
    size_t length = strlen(prefix);
    char *end;
    unsigned long value;

    if (strncmp(name, prefix, length) != 0 || name[length] < '0' || name[length] > '9') {
        return false;
    }
    value = strtoul(name + length, &end, 10);
    *number = (uint32_t)value;
    return *end == '\0' && value < UINT32_MAX;
}

static void cgroups_visit(struct walk *walk, int folder, const char *name)
{
    struct cgroup_step *step = &walk->step;
    struct stat status;

    if (fstat(folder, &status) || strlen(name) >= sizeof step->step + strlen("step_")) {
        return;
    }
    snprintf(step->step, sizeof step->step, "%s", name + strlen("step_"));
    step->inode = status.st_ino;
    step->born_unix_ns =
        (int64_t)status.st_ctim.tv_sec * (int64_t)NS_PER_S + status.st_ctim.tv_nsec;
    step->cpu_ns =
        walk->groups->counts ? cgroups_cpu_ns(folder, walk->groups->unified) : CGROUP_CPU_UNKNOWN;
    walk->visit(step, walk->context);
}

static void cgroups_descend(int above, const char *name, void *context)
{
    struct walk *walk = context;
    size_t length = strlen(walk->step.path);
    bool step = walk->step.job > 0 && strncmp(name, "step_", strlen("step_")) == 0;
    bool job = walk->step.job == 0 && cgroups_number(name, "job_", &walk->step.job);
    int folder;

    if ((!step && !job && strncmp(name, "uid_", strlen("uid_")) != 0) ||
        length + strlen(name) + 2 > sizeof walk->step.path) {
        return;
    }
    folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        snprintf(walk->step.path + length, sizeof walk->step.path - length, "/%s", name);
        if (step) {
            cgroups_visit(walk, folder, name);
        } else {
            cgroups_entries(folder, cgroups_descend, walk);
        }
        walk->step.path[length] = '\0';
        close(folder);
    }
    walk->step.job = job ? 0 : walk->step.job;
}

bool cgroups_scan(const struct cgroups *groups,
                  void (*visit)(const struct cgroup_step *step, void *context), void *context)
{
    struct walk walk = {.groups = groups, .visit = visit, .context = context};
    int folder = open(groups->steps, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0) {
        return false;
    }
    cgroups_entries(folder, cgroups_descend, &walk);
    close(folder);
    return true;
}

/* "0-3,8" */
static double cgroups_count(const char *list)
{
    double count = 0;

    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        count += last >= first ? (double)(last - first + 1) : 0;
        list = *end == ',' ? end + 1 : end;
    }
    return count > 0 ? count : NAN;
}

double cgroups_cores(const struct cgroups *groups, const struct cgroup_step *step)
{
    char path[2 * CGROUP_PATH_SIZE], list[TEXT_SIZE];
    int folder;
    ssize_t size;

    snprintf(path, sizeof path, "%s%s", groups->cores, step->path);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size =
        folder < 0
            ? -1
            : cgroups_read(folder, groups->unified ? "cpuset.cpus.effective" : "cpuset.cpus", list);
    folder_close(folder);
    return size > 0 ? cgroups_count(list) : NAN;
}
