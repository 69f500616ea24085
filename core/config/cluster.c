/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/cluster.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "config/slurm_conf.h"

struct cluster_search {
    char *name;
    size_t size;
};

static void cluster_take(struct cluster_search *search, const char *value)
{
    bool quoted = *value == '"';
    size_t length = quoted ? strcspn(++value, "\"\r\n") : (size_t)slurm_conf_length(value);

    search->name[0] = '\0';
    if (length >= search->size) {
        return;
    }
    for (size_t i = 0; i < length; i++) {
        search->name[i] = (char)tolower((unsigned char)value[i]);
    }
    search->name[length] = '\0';
}

/* Slurm counts the last one. */
static void cluster_search(char *line, void *context)
{
    const char *value = slurm_conf_find(line, "ClusterName");

    if (value) {
        cluster_take(context, value);
    }
}

int config_cluster(const char *path, char *name, size_t size)
{
    struct cluster_search search = {name, size};

    name[0] = '\0';
    slurm_conf_each(path, cluster_search, &search);
    return name[0] ? 0 : -1;
}
