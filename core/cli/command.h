/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_CLI_COMMAND_H
#define APAPI_CLI_COMMAND_H
#include "apapi/interval.h"
#include "apapi/scan.h"
#include "base/json.h"
#include "base/names.h"
#include "base/option_table.h"
#include "base/units.h"

/* Shared by the subcommands of `apapi`. */

/* One function for each subcommand. argv[0] is its name, or an old name of it. @return the exit
 * status: 0 done, 1 failure, 2 wrong usage. */
int list_command(int argc, char **argv);
int doctor_command(int argc, char **argv);
int audit_command(int argc, char **argv);
int report_command(int argc, char **argv);
int regions_command(int argc, char **argv);
int show_command(int argc, char **argv);
int config_command(int argc, char **argv);
int import_command(int argc, char **argv);
int export_command(int argc, char **argv);
int plot_command(int argc, char **argv);
int mark_command(int argc, char **argv);
int top_command(int argc, char **argv);

struct config;
struct config_sink;

/**
 * Report values of apapi.conf that have no effect here, and why records could not be written.
 * @param warnings  receives what is worth a word, but is not a mistake; both may be NULL
 * @return whether steps can be measured, provided that the node has a meter
 */
bool config_check(const struct config *config, const struct config_sink *mistakes,
                  const struct config_sink *warnings);

/** Print "apapi COMMAND: TEXT" to standard error. @return EXIT_FAILURE. */
int command_fail(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Read the file of config_path(). Says on standard error if the whole file, or a line that names a
 * folder, has no effect: the command works on other files than the site means.
 */
void command_read_config(const char *command, struct config *config);

/** Like command_fail(). @return USAGE_ERROR. */
int command_refuse(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Like command_fail(), with advice: the caller may not read root's records in this folder. */
int command_fail_folder(const char *command, const char *folder);

/** Print where a skipped line or file is, and why. */
void command_note_skipped(const char *command, const struct apapi_scan_problem *problem);

/** Flush standard output. @return `status`, or EXIT_FAILURE after a message. */
int command_finish(const char *command, int status);

/** End a command: like command_fail() if memory ran out (`failed`), else like command_finish(). */
int command_end(const char *command, bool failed);

/** Lines of text for people; free `texts`. */
struct remarks {
    struct namelist texts;
    size_t most;  /* how many lines are kept; 0: all */
    size_t count; /* lines so far, whether kept or not */
};

void remark(struct remarks *remarks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Return ", restart 2" if the job was requeued before the run; "" in its first run, or unknown. */
struct units_text restart_text(uint32_t restarts);

/** Format a duration as sacct does: [D-]HH:MM:SS. */
struct units_text elapsed_text(double seconds);

/** End the line of JSON and write the rest of it. @return 0; -1: out of memory. command_finish()
 * reports other errors.
 */
int json_finish(struct json_writer *json);

#define WANTED_MAX 128

/** The components that a command's words name, or all that can be named. */
struct wanted {
    bool named;
    size_t count;
    char names[WANTED_MAX][APAPI_COMPONENT_SIZE];
};

/**
 * Parse "rapl" and "rapl:nvml". Without words, or with "all", `wanted` gets all components that can
 * be named here.
 * @return 0; -1 with errno EINVAL, ENOENT (an unknown name: `err` has the nearest).
 */
int wanted_parse(int count, char *const words[], struct wanted *wanted, struct apapi_error *err);

#endif
