/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_CLUSTER_H
#define CONFIG_CLUSTER_H
#include <stddef.h>

/**
 * Read the name of the cluster, in lower case as in Slurm, from slurm.conf and the files that it
 * includes. Never blocks on a FIFO or a device.
 * @param path  of slurm.conf
 * @return 0; -1: it has no name, or one that does not fit, and `name` is "".
 */
int config_cluster(const char *path, char *name, size_t size);

#endif
