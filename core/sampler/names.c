/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampler/names.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/kernel_file.h"
#include "config/cluster.h"
#include "config/node_cores.h"

void names_user(uint32_t uid, char *name, size_t size)
{
    struct passwd entry, *found = NULL;
    char text[4096];

    if (uid != APAPI_UNKNOWN && getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found) {
        snprintf(name, size, "%s", found->pw_name);
    }
}

/* Fewer than the step has cannot be right. */
void names_count_cores(struct step *step)
{
    uint32_t cores = *step->slurm_conf ? config_node_cores(step->slurm_conf, step->id.node) : 0;

    if (cores == 0) {
        cores = kernel_cores();
    }
    if (cores > 0 && (step->id.cores == APAPI_UNKNOWN || step->id.cores <= cores)) {
        step->id.node_cores = cores;
    }
}

void names_complete(struct step *step)
{
    char cluster[sizeof step->id.cluster];

    names_user(step->id.uid, step->id.user, sizeof step->id.user);
    if (*step->slurm_conf && config_cluster(step->slurm_conf, cluster, sizeof cluster) == 0) {
        strcpy(step->id.cluster, cluster);
    }
}
