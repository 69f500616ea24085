/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_SOURCES_GPU_SELECT_H
#define APAPI_SOURCES_GPU_SELECT_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/error.h"

#define GPU_DEVICES_MAX 64
#define GPU_TEXT_SIZE 96

/** A GPU as its vendor's library shows it. */
struct gpu_device {
    void *handle;
    unsigned index;           /* in the library's order, which is that of the PCI addresses */
    int minor;                /* of its device file; -1: not known */
    char uuid[GPU_TEXT_SIZE]; /* "GPU-..."; "": not known */
    char name[GPU_TEXT_SIZE]; /* "NVIDIA A100-SXM4-40GB"; "": not known */
    int error;                /* errno if it exists but cannot be used */
    bool chosen;
    bool by_part;                /* chosen by the names of its parts */
    unsigned slices, slices_all; /* of these parts, and of the GPU; 0: not known */
};

/** Size of a part of a GPU (a MIG device). */
struct gpu_part {
    unsigned slices, slices_all; /* its own and those of the GPU; 0: not known */
};

/**
 * Find a part of a GPU by its name. `uuid` may be the beginning of one.
 * @param part  result; not changed if there is none
 * @return whether the GPU has it
 */
typedef bool (*gpu_find_part_f)(const struct gpu_device *device, const char *uuid,
                                struct gpu_part *part);

/**
 * The list of GPUs to measure, from the first of: APAPI_GPUS, the setting `gpus` of section
 * `slurm`, SLURM_STEP_GPUS, SLURM_JOB_GPUS.
 * @return the list; NULL: none is set, or it is "all".
 */
const char *gpu_list(void);

/**
 * Mark the GPUs to measure: all, or those of gpu_list().
 *
 * A list has words separated by commas: an index "0" or a range "0-3" in PCI order (minor numbers
 * of the device files with the setting `order` of section `gpus` at "minor"), "GPU-uuid",
 * "MIG-uuid", or the beginning of one that fits one GPU only. "none" selects no GPU.
 * @param find_part  NULL: GPUs have no parts
 * @return 0; -1 with errno EINVAL (bad text) or ENODEV (no such GPU, or none is wanted).
 */
int gpu_select(struct gpu_device *devices, size_t count, gpu_find_part_f find_part,
               struct apapi_error *err);

#endif
