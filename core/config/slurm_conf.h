/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CONFIG_SLURM_CONF_H
#define APAPI_CONFIG_SLURM_CONF_H
#include <stddef.h>
#include <stdint.h>

/** Receives a line without its comment; one that goes on behind a backslash in one piece. */
typedef void (*slurm_conf_line_f)(char *line, void *context);

/**
 * Visit each line of slurm.conf and of what that includes, in the order in which Slurm reads them.
 * A file that cannot be read has none. Never blocks on a FIFO or a device.
 * @param path  of slurm.conf
 */
void slurm_conf_each(const char *path, slurm_conf_line_f visit, void *context);

/**
 * The value behind `key` and '=', wherever a word of the line begins.
 * @return in the line, up to its end; NULL: it has none.
 */
char *slurm_conf_find(char *line, const char *key);

/**
 * Read the name of the cluster, in lower case as in Slurm, from slurm.conf and the files that it
 * includes. Never blocks on a FIFO or a device.
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
