/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_EXECUTE_H
#define APAPI_CLI_EXECUTE_H

/**
 * Execute a helper program of libexec in place of this one.
 * @param advice  added to the message if it is not there; "": nothing
 * @return EXIT_FAILURE after a message, if it cannot be executed
 */
int command_execute(const char *program, char **argv, const char *advice);

#endif
