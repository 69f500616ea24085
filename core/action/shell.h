/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ACTION_SHELL_H
#define ACTION_SHELL_H

/**
 * In a new process: give it nothing to read, let it write to `output`, and close everything else.
 * @param output  a descriptor; -1: /dev/null
 */
void shell_plug(int output);

/**
 * Become `/bin/sh -c COMMAND`. Returns on failure.
 * @param variables  added to the environment, as for execve(); must stay valid
 */
void shell_become(const char *command, char *const *variables);

#endif
