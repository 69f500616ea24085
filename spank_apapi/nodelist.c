/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodelist.h"

#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* hostlist_t is a pointer up to Slurm 23.02 and what one points to since then. */
typedef __typeof__(slurm_hostlist_create("")) nodelist_hosts;

static bool nodelist_add(char *list, size_t size, const char *host)
{
    size_t length = strlen(list), comma = length > 0;

    if (length + comma + strlen(host) >= size) {
        return false;
    }
    stpcpy(stpcpy(list + length, comma ? "," : ""), host);
    return true;
}

static void nodelist_expand(nodelist_hosts hosts, char *list, size_t size)
{
    char *host;

    while ((host = slurm_hostlist_shift(hosts))) {
        bool added = nodelist_add(list, size, host);

        free(host);
        if (!added) {
            list[0] = '\0';
            return;
        }
    }
}

/* SLURM_STEP_NODELIST, if there is any here, belongs to a step around this srun. */
static const char *nodelist_allocation(void)
{
    const char *names = getenv("SLURM_NODELIST");

    return names ? names : getenv("SLURM_JOB_NODELIST");
}

static bool nodelist_heterogeneous(void)
{
    return getenv("SLURM_HET_SIZE") != NULL;
}

uint32_t spank_apapi_nodelist_count(uint32_t counted)
{
    const char *text = nodelist_heterogeneous() ? getenv("SLURM_NNODES") : NULL;
    char *end = NULL;
    unsigned long all = text ? strtoul(text, &end, 10) : 0;

    return end && *end == '\0' && all > counted && all <= UINT32_MAX ? (uint32_t)all : counted;
}

void spank_apapi_nodelist(uint32_t nodes, char *list, size_t size)
{
    const char *names = nodelist_heterogeneous() ? NULL : nodelist_allocation();
    nodelist_hosts hosts = names ? slurm_hostlist_create(names) : NULL;

    list[0] = '\0';
    if (!hosts) {
        return;
    }
    if (slurm_hostlist_count(hosts) == (int)nodes) {
        nodelist_expand(hosts, list, size);
    }
    slurm_hostlist_destroy(hosts);
}
