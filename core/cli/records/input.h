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
    unsigned quiet; /* of a caller with other sources: 1: nothing is printed if no record is wanted;
                       2: nothing at all. No record is EXIT_FAILURE then */
    bool own;       /* the folder is the caller's own in user_records: report_input_complete() */
    bool strict;    /* used by the caller: a skipped line makes the exit status 1 */
};

/* Options that select records, named as in sacct, of a command's struct report_input. */
extern const struct option_row input_filter_rows[]; /* which records */
extern const struct option_row input_source_rows[]; /* from where */

/**
 * If neither files nor a database are given, use the accounting folder of apapi.conf. A user who
 * may not read that gets his own folder in user_records, if the site has them.
 * @param config  must stay valid as long as the input is used
 * @return 0; the exit status after a message: the options exclude each other, or ask for records of
 * other users.
 */
int report_input_complete(struct report_input *input, const struct config *config);

/**
 * Read the records as apapi.conf and `input` say, then print what they are.
 * @param take, print  get `context`; print returns the exit status
 * @return the exit status, also for input->strict
 */
int report_input_print(struct report_input *input, apapi_scan_f take, int (*print)(void *context),
                       void *context);

/**
 * Pass each wanted record to `take`, and report on standard error what was skipped.
 * @param left_out  result: number of lines that are not records, and of unreadable files
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if `take` fails.
 */
int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out);

/** @return whether the caller cannot read the folder of all records, and has named no other. */
bool own_is_all(const struct report_input *input, const struct config *config);

#endif
