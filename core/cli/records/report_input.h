/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_REPORT_INPUT_H
#define APAPI_RECORDS_REPORT_INPUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/scan.h"

/** Which records a subcommand reads, and from where. Lists have commas; NULL: no limit. */
struct report_input {
    const char *command;    /* for messages */
    const char *dir;        /* accounting folder */
    char *const *files;     /* in the folder's place; "-": standard input */
    size_t file_count;      /* 0: the folder */
    const char *db;         /* URL of a database, read instead of both; NULL: none */
    bool timelines, powers; /* what is needed of its records besides: power over time, extremes */
    const char *jobs;       /* "17,18.batch,19_3,20_*,21+1.0" */
    const char *users;      /* names and uids */
    const char *accounts;   /* names */
    const char *partitions; /* the same */
    const char *clusters;   /* the same */
    const char *job_names;  /* the same */
    const char *nodes;      /* as Slurm writes them */
    const char *from_text, *to_text; /* when the record ended, as when_parse() reads it */
    bool verbose;                    /* each line that is skipped is told */
    bool strict;                     /* the caller's: one that is skipped makes the exit status 1 */
};

/**
 * Where nothing says which files there are, the accounting folder of apapi.conf is read.
 * @param dir  lives as long as the input is used
 * @return 0; the exit status after a message: the options exclude each other.
 */
int report_input_complete(struct report_input *input, const char *dir);

/**
 * Hand over every record that is wanted, and tell on standard error what was skipped.
 * @param left_out  result: lines that are no record, and files that cannot be read
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also where `take` fails.
 */
int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out);

#endif
