/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_COMMAND_H
#define APAPI_CLI_COMMAND_H
#include <getopt.h>

/* What the subcommands of `apapi` share. */

enum { USAGE_ERROR = 2 };

/* One for each subcommand. argv[0] is its name. @return exit status: 0, 1 failure, 2 usage. */
int list_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int report_command(int argc, char **argv);
int show_command(int argc, char **argv);
int config_command(int argc, char **argv);
int import_command(int argc, char **argv);
int export_command(int argc, char **argv);
int plot_command(int argc, char **argv);
int merge_command(int argc, char **argv);
int sync_command(int argc, char **argv);
int top_command(int argc, char **argv);

/** Print "apapi COMMAND: TEXT" to standard error. @return EXIT_FAILURE. */
int command_fail(const char *command, const char *text);

/** The same for a folder of root's records without permission to read, with advice. */
int command_fail_folder(const char *command, const char *folder);

/** Print it. @return USAGE_ERROR. */
int command_refuse(const char *command, const char *text);

/**
 * Next option of a subcommand. An unknown one is reported with the nearest name; -V ends the
 * program.
 * @param letters  as for getopt_long()
 * @return its letter; -1 after the last one; '?' after a message: the status is USAGE_ERROR.
 */
int command_option(int argc, char **argv, const char *letters, const struct option *options);

/** Flush standard output. @return `status`, or EXIT_FAILURE after a message. */
int command_finish(const char *command, int status);

#endif
