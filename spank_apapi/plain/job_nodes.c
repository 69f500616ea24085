/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_SIZE 16

struct environment {
    spank_apapi_look_f look;
    void *context;
};

static bool job_nodes_look(const struct environment *in, const char *variable, char *value,
                           size_t size)
{
    return in->look(in->context, variable, value, size) && *value;
}

/* @return number of components of the job; 0: not heterogeneous. */
static unsigned long count_components(const struct environment *in)
{
    char job[NUMBER_SIZE], first[NUMBER_SIZE], count[NUMBER_SIZE];

    /* Variables that sbatch passed on from an enclosing job have another ID. */
    if (!job_nodes_look(in, "SLURM_JOB_ID", job, sizeof job) ||
        !job_nodes_look(in, "SLURM_JOB_ID_HET_GROUP_0", first, sizeof first) ||
        strcmp(first, job) != 0 || !job_nodes_look(in, "SLURM_HET_SIZE", count, sizeof count)) {
        return 0;
    }
    return strtoul(count, NULL, 10);
}

/* All or none: a part would be taken for the whole. */
static int job_nodes_join(const struct environment *in, unsigned long components, char *names,
                          size_t size)
{
    size_t length = 0;

    for (unsigned long i = 0; i < components; i++) {
        char variable[48];

        if (i > 0) {
            names[length++] = ','; /* replaces the NUL; there is room for it */
        }
        snprintf(variable, sizeof variable, "SLURM_JOB_NODELIST_HET_GROUP_%lu", i);
        if (!job_nodes_look(in, variable, names + length, size - length)) {
            return -1;
        }
        length += strlen(names + length);
    }
    return 0;
}

int spank_apapi_job_nodes(spank_apapi_look_f find, void *context, char *names, size_t size)
{
    const struct environment in = {.look = find, .context = context};
    unsigned long components = count_components(&in);
    int rc = -1;

    if (components == 0 && job_nodes_look(&in, "SLURM_JOB_NODELIST", names, size)) {
        rc = 0;
    } else if (components > 0 && components <= SPANK_APAPI_COMPONENTS_MAX) {
        rc = job_nodes_join(&in, components, names, size);
    }
    if (rc) {
        names[0] = '\0';
    }
    return rc;
}
