/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_SLURM_CONF_H
#define APAPI_CONFIG_SLURM_CONF_H
#include <stddef.h>
#include <stdint.h>

/**
 * Read the last value of a key in slurm.conf and the files that it includes. Never blocks on a FIFO
 * or a device.
 * @param value  result; "": the key has no value, or one that does not fit into `size` bytes
 */
void config_slurm_value(const char *path, const char *key, char *value, size_t size);

/**
 * Read the name of the cluster, in lower case as in Slurm, like config_slurm_value().
 * @param path  of slurm.conf; NULL or "": its usual place, also on a node of a configless site
 * @return 0; -1: there is no name, or one that does not fit, and `name` is "".
 */
int config_cluster(const char *path, char *name, size_t size);

/**
 * @param path  of slurm.conf
 * @return how many cores a node has, as Slurm counts them: by the last line that names the node, in
 *         slurm.conf or a file that it includes, and the lines NodeName=DEFAULT above that line; 0:
 *         no line has the number.
 */
uint32_t config_node_cores(const char *path, const char *node);

#endif
