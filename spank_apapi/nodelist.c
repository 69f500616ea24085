/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodelist.h"

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* hostlist_t is a pointer type up to Slurm 23.02, and a structure since then. */
typedef __typeof__(slurm_hostlist_create("")) nodelist_hosts;

/* If set here, SLURM_STEP_NODELIST belongs to an enclosing step. */
static const char *nodelist_allocation(void)
{
    const char *names = getenv("SLURM_NODELIST");

    return names ? names : getenv("SLURM_JOB_NODELIST");
}

static bool nodelist_heterogeneous(void)
{
    return getenv("SLURM_HET_SIZE") != NULL;
}

uint32_t nodelist_count(uint32_t counted)
{
    const char *text = nodelist_heterogeneous() ? getenv("SLURM_NNODES") : NULL;
    char *end = NULL;
    unsigned long all = text ? strtoul(text, &end, 10) : 0;

    return end && *end == '\0' && all > counted && all <= UINT32_MAX ? (uint32_t)all : counted;
}

const char *spank_apapi_nodelist(uint32_t nodes)
{
    const char *names = nodelist_heterogeneous() ? NULL : nodelist_allocation();
    nodelist_hosts hosts = names ? slurm_hostlist_create(names) : NULL;
    bool all;

    if (!hosts) {
        return NULL;
    }
    all = slurm_hostlist_count(hosts) == (int)nodes;
    slurm_hostlist_destroy(hosts);
    return all ? names : NULL;
}

void nodelist_first(char *name, size_t size)
{
    const char *names = nodelist_allocation();
    nodelist_hosts hosts = names ? slurm_hostlist_create(names) : NULL;
    char *first = hosts ? slurm_hostlist_shift(hosts) : NULL;

    snprintf(name, size, "%s", first ? first : "");
    free(first);
    if (hosts) {
        slurm_hostlist_destroy(hosts);
    }
}
