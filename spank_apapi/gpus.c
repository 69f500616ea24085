/* SPDX-License-Identifier: BSD-3-Clause */
#include "gpus.h"

#include <link.h>
#include <slurm/slurm.h>
#include <stdbool.h>
#include <string.h>

#include "base/count_of.h"

#define LIST_SIZE 4096

/* Slurm's plugin for GPUs, loaded if GresTypes in slurm.conf names them. */
#define GPU_PLUGIN "/gres_gpu.so"

static int is_gpu_plugin(struct dl_phdr_info *object, size_t size, void *unused)
{
    size_t length = strlen(object->dlpi_name), end = strlen(GPU_PLUGIN);

    (void)size;
    (void)unused;
    return length >= end && strcmp(object->dlpi_name + length - end, GPU_PLUGIN) == 0;
}

static bool get(spank_t spank, const char *variable, char list[LIST_SIZE])
{
    return spank_getenv(spank, variable, list, LIST_SIZE) == ESPANK_SUCCESS && list[0];
}

/* Names are preferred to numbers: with MIG, Slurm numbers parts of GPUs. */
static bool get_names(spank_t spank, char list[LIST_SIZE])
{
    static const char *const variables[] = {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"};

    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        if (get(spank, variables[i], list) &&
            (strncmp(list, "GPU-", 4) == 0 || strncmp(list, "MIG-", 4) == 0)) {
            return true;
        }
    }
    return false;
}

/*
 * Slurm sets these variables and overwrites the user's. Within a step, SLURM_JOB_GPUS may come from
 * the batch script, and from another node.
 */
void spank_apapi_gpus_describe(spank_t spank, const struct spank_apapi_step *step,
                               struct message *message)
{
    bool whole_job = step->batch || step->step == SLURM_INTERACTIVE_STEP;
    char list[LIST_SIZE], names[LIST_SIZE];

    if (!dl_iterate_phdr(is_gpu_plugin, NULL)) {
        return;
    }
    if (!get(spank, whole_job ? "SLURM_JOB_GPUS" : "SLURM_STEP_GPUS", list)) {
        strcpy(list, "none");
    } else if (get_names(spank, names)) {
        strcpy(list, names);
    }
    message_add_pair(message, "gpus", list);
}
