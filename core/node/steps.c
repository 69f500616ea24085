/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/steps.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/live.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/kernel_file.h"
#include "base/text.h"

#define CGROUPS_MOUNT "/sys/fs/cgroup"
#define TEXT_SIZE 4096
#define NS_PER_US 1000

/* --- control groups -------------------------------------------------------------------------- */

/* Best first. %s: the node's name, in the path if several slurmds may run on one machine. */
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

static uint64_t cgroups_cpu_ns(int folder, bool unified)
{
    char text[TEXT_SIZE];
    const char *found;
    uint64_t cpu_ns;

    if (!unified) {
        return kernel_file_read_u64_at(folder, "cpuacct.usage", &cpu_ns) ? CGROUP_CPU_UNKNOWN
                                                                         : cpu_ns;
    }
    found = kernel_file_read_word_at(folder, "cpu.stat", text, sizeof text) == 0
                ? strstr(text, "usage_usec ") /* its first line */
                : NULL;
    return found ? strtoull(found + strlen("usage_usec "), NULL, 10) * NS_PER_US
                 : CGROUP_CPU_UNKNOWN;
}

uint64_t cgroups_root_cpu_ns(const struct cgroups *groups)
{
    int folder = open(groups->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t cpu_ns = folder < 0 ? CGROUP_CPU_UNKNOWN : cgroups_cpu_ns(folder, groups->unified);

    folder_close(folder);
    return cpu_ns;
}

/* A walk down through the control groups. */
struct walk {
    const struct cgroups *groups;
    void (*visit)(const struct cgroup_step *step, void *context);
    void *context;
    struct cgroup_step step;
};

static void cgroups_visit(struct walk *walk, int above, const char *name)
{
    int folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct cgroup_step *step = &walk->step;
    struct stat status;

    if (folder >= 0 && fstat(folder, &status) == 0 &&
        strlen(name) < sizeof step->step + strlen("step_")) {
        snprintf(step->step, sizeof step->step, "%s", name + strlen("step_"));
        step->inode = status.st_ino;
        step->born_unix_ns =
            (int64_t)status.st_ctim.tv_sec * (int64_t)NS_PER_S + status.st_ctim.tv_nsec;
        step->cpu_ns = walk->groups->counts ? cgroups_cpu_ns(folder, walk->groups->unified)
                                            : CGROUP_CPU_UNKNOWN;
        walk->visit(step, walk->context);
    }
    folder_close(folder);
}

static void cgroups_descend(int above, const char *name, unsigned char type, void *context)
{
    struct walk *walk = context;
    size_t length = strlen(walk->step.path);
    bool step = walk->step.job > 0 && strncmp(name, "step_", strlen("step_")) == 0;
    uint32_t job = walk->step.job == 0 && strncmp(name, "job_", 4) == 0
                       ? (uint32_t)positive_number(name + 4, UINT32_MAX - 1)
                       : 0;

    (void)type;
    if ((!step && job == 0 && strncmp(name, "uid_", strlen("uid_")) != 0) ||
        length + strlen(name) + 2 > sizeof walk->step.path) {
        return;
    }
    walk->step.job += job;
    snprintf(walk->step.path + length, sizeof walk->step.path - length, "/%s", name);
    if (step) {
        cgroups_visit(walk, above, name);
    } else {
        folder_each(above, name, cgroups_descend, walk);
    }
    walk->step.path[length] = '\0';
    walk->step.job -= job;
}

bool cgroups_scan(const struct cgroups *groups,
                  void (*visit)(const struct cgroup_step *step, void *context), void *context)
{
    struct walk walk = {.groups = groups, .visit = visit, .context = context};

    return folder_each(AT_FDCWD, groups->steps, cgroups_descend, &walk);
}

double cgroups_cores(const struct cgroups *groups, const struct cgroup_step *step)
{
    char path[2 * CGROUP_PATH_SIZE], list[TEXT_SIZE];
    uint64_t count = 0;
    int folder;

    snprintf(path, sizeof path, "%s%s", groups->cores, step->path);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0 &&
        kernel_file_read_word_at(folder, groups->unified ? "cpuset.cpus.effective" : "cpuset.cpus",
                                 list, sizeof list) == 0) {
        count = text_count_listed(list);
    }
    folder_close(folder);
    return count > 0 ? (double)count : NAN;
}

/* --- GPUs, by the steps' live pages ---------------------------------------------------------- */

int node_gpu_index(const char *name)
{
    const char *found = strstr(name, "device");
    int index = 0;

    if (!found || (found[6] != '_' && found[6] != '=') || found[7] < '0' || found[7] > '9') {
        return -1;
    }
    for (found += 7; *found >= '0' && *found <= '9' && index < NODE_GPUS; found++) {
        index = index * 10 + (*found - '0');
    }
    return index < NODE_GPUS ? index : -1;
}

/* A search of the live pages of a node's steps. */
struct pages_search {
    const char *node, *step;
    uint32_t job;
    struct node_gpus *gpus; /* of that step; NULL: not wanted */
    size_t pages;
};

static void pages_take_gpus(const struct apapi_live_page *page, struct node_gpus *gpus)
{
    for (uint32_t i = 0; i < apapi_live_event_count(page); i++) {
        const struct apapi_live_event *event = &page->names[i];
        int index = event->domain == APAPI_DOMAIN_GPU ? node_gpu_index(event->name) : -1;

        if (index >= 0) {
            gpus->bits |= UINT64_C(1) << index;
        }
        if (index >= 0 && event->slices <= event->slices_all && event->slices_all <= UINT8_MAX) {
            gpus->slices[index] = (uint8_t)event->slices;
            gpus->slices_all[index] = (uint8_t)event->slices_all;
        }
    }
}

static int pages_look(const struct apapi_live_page *page, void *context)
{
    struct pages_search *search = context;

    if (strcmp(page->head.node, search->node) == 0) {
        search->pages++;
        if (search->gpus && page->head.job == search->job &&
            strcmp(page->head.step, search->step) == 0) {
            pages_take_gpus(page, search->gpus);
        }
    }
    return 0;
}

void node_gpus_of(const char *live_dir, const char *node, uint32_t job, const char *step,
                  struct node_gpus *gpus)
{
    struct pages_search search = {.node = node, .step = step, .job = job, .gpus = gpus};

    *gpus = (struct node_gpus){.bits = 0};
    apapi_live_scan(live_dir, pages_look, &search, NULL, NULL);
}

bool node_any_step_is_live(const char *live_dir, const char *node)
{
    struct pages_search search = {.node = node};

    apapi_live_scan(live_dir, pages_look, &search, NULL, NULL);
    return search.pages > 0;
}
