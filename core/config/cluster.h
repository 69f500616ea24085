/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_CLUSTER_H
#define CONFIG_CLUSTER_H
#include <stddef.h>

/**
 * Read the name of the cluster, in lower case as Slurm has it, from slurm.conf and what that
 * includes. Never blocks on a FIFO or a device.
 * @param path  of slurm.conf
 * @return 0; -1: it says none, or one without room, and `name` is "".
 */
int config_cluster(const char *path, char *name, size_t size);

#endif
