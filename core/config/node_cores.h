/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_NODE_CORES_H
#define CONFIG_NODE_CORES_H
#include <stdint.h>

/**
 * How many cores a node has, as Slurm counts them: by the last line of slurm.conf, or what that
 * includes, that names the node, and the lines NodeName=DEFAULT above it.
 * @param path  of slurm.conf
 * @return 0: no line says it.
 */
uint32_t config_node_cores(const char *path, const char *node);

#endif
