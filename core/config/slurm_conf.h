/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_SLURM_CONF_H
#define APAPI_CONFIG_SLURM_CONF_H
#include <stddef.h>
#include <stdint.h>

/**
 * Read a value from slurm.conf and the files that it includes: the last one of this key. Never
 * blocks on a FIFO or a device.
 * @param value  "": it has none, or one that does not fit
 */
void config_slurm_value(const char *path, const char *key, char *value, size_t size);

/**
 * Read the name of the cluster, in lower case as in Slurm, in the same way.
 * @param path  of slurm.conf; NULL or "": where it usually is, on a node of a configless site, too
 * @return 0; -1: it has no name, or one that does not fit, and `name` is "".
 */
int config_cluster(const char *path, char *name, size_t size);

/**
 * How many cores a node has, as Slurm counts them: by the last line of slurm.conf, or what that
 * includes, that names the node, and the lines NodeName=DEFAULT above it.
 * @param path  of slurm.conf
 * @return 0: no line says it.
 */
uint32_t config_node_cores(const char *path, const char *node);

#endif
