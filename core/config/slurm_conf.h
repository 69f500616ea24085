/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_SLURM_CONF_H
#define CONFIG_SLURM_CONF_H

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

/** How long a value is: up to the next blank. */
int slurm_conf_length(const char *value);

#endif
