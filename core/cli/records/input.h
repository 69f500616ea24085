/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/scan.h"
#include "base/option_table.h"
#include "config/config.h"

/** Which records a subcommand reads, and from where. Lists have commas; NULL: no limit. */
struct report_input {
    const char *command;             /* for messages */
    const char *dir;                 /* accounting folder */
    char *const *files;              /* read instead of the folder; "-": standard input */
    size_t file_count;               /* 0: read the folder */
    const char *db;                  /* URL of a database, used instead of both; NULL: none */
    const char *jobs;                /* "17,18.batch,19_3,20_*,21+1.0" */
    const char *users;               /* names and uids */
    const char *accounts;            /* names */
    const char *partitions;          /* names */
    const char *clusters;            /* names */
    const char *job_names;           /* names */
    const char *nodes;               /* in Slurm's form */
    const char *from_text, *to_text; /* limits of a record's end, in the form of when_parse() */
    bool verbose;                    /* report each skipped line */
    bool quiet;    /* nothing is printed if no record is wanted, which is EXIT_FAILURE then: there
                      are other sources */
    bool of_nodes; /* a user's own records are of no use */
    bool strict;   /* a skipped line makes the exit status 1 */
    /* of report_input_run() */
    const struct config *config; /* apapi.conf */
    bool own;                    /* the folder is the caller's own in user_records */
    size_t left_out;             /* lines that are not records, and unreadable files */
};

/* Options that select records, named as in sacct, of a command's struct report_input. */
extern const struct option_row input_filter_rows[]; /* which records */
extern const struct option_row input_source_rows[]; /* from where */

/** The words after the options: FILEs. @param job  without -j, the first one is the job instead */
void report_input_words(struct report_input *input, char **words, size_t count, bool job);

/**
 * Read apapi.conf and call `run`. If neither files nor a database are given, the records are those
 * of its accounting folder. A user who may not read that gets his own folder in user_records, if
 * the site has them.
 * @return the exit status: that of `run`; of a message, as the options exclude each other; failure
 * if lines were left out and the input is strict.
 */
int report_input_run(struct report_input *input, int (*run)(void *context), void *context);

/** The same: read the records, then print what they are. */
int report_input_print(struct report_input *input, apapi_scan_f take, int (*print)(void *context),
                       void *context);

/**
 * Pass each wanted record to `take`, and report on standard error what was skipped.
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if `take` fails.
 */
int report_input_read(struct report_input *input, apapi_scan_f take, void *context);

/** Report why nothing could be read, by errno and its text. @return the exit status */
int report_input_fail(const struct report_input *input, int code, const struct apapi_error *err);

/** @return whether the list has the name, which is none if it is "". NULL: no list, any name */
bool input_list_has(const char *list, const char *name);

#endif
