/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_GPUS_H
#define NODE_GPUS_H
#include <stdbool.h>
#include <stdint.h>

/** @return the GPU's number in the name of its event: "device_3", "device=3"; -1: none */
int node_gpu_index(const char *name);

/**
 * GPUs that a step measures, which are those it has, by its live page.
 * @param folder  <live_dir>/<node>
 * @return their bits; 0: none, or not known
 */
uint64_t node_gpus_of(int folder, uint32_t job, const char *step);

/** @return whether a step has a live page in this folder. */
bool node_gpus_anyone(int folder);

#endif
