/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_GPUS_H
#define NODE_GPUS_H
#include <stdbool.h>
#include <stdint.h>

#include "node/reading.h"

/** @return the GPU's number in the name of its event: "device_3", "device=3"; -1: none */
int node_gpu_index(const char *name);

/** GPUs of a step. What it has of each is in slices (MIG); 0: the whole GPU, or not known. */
struct node_gpus {
    uint64_t bits;                 /* 0: none, or not known */
    uint8_t slices[NODE_GPUS];     /* that the step has */
    uint8_t slices_all[NODE_GPUS]; /* that the GPU has */
};

/**
 * Find the GPUs that a step measures, which are those it has, by its live page.
 * @param folder  <live_dir>/<node>
 */
void node_gpus_of(int folder, uint32_t job, const char *step, struct node_gpus *gpus);

/** @return whether a step has a live page in this folder. */
bool node_gpus_anyone(int folder);

#endif
