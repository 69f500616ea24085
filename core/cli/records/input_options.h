/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_OPTIONS_H
#define APAPI_RECORDS_INPUT_OPTIONS_H
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

/** Which records a subcommand reads, and from where. Lists have commas; NULL: no limit. */
struct report_input {
    const char *command;    /* for messages */
    const char *dir;        /* accounting folder */
    char *const *files;     /* read instead of the folder; "-": standard input */
    size_t file_count;      /* 0: read the folder */
    const char *db;         /* URL of a database, used instead of both; NULL: none */
    bool timelines, powers; /* additional data needed from a database: power over time, extremes */
    const char *jobs;       /* "17,18.batch,19_3,20_*,21+1.0" */
    const char *users;      /* names and uids */
    const char *accounts;   /* names */
    const char *partitions; /* names */
    const char *clusters;   /* names */
    const char *job_names;  /* names */
    const char *nodes;      /* in Slurm's form */
    const char *from_text, *to_text; /* limits of a record's end, in the form of when_parse() */
    bool verbose;                    /* report each skipped line */
    bool strict; /* used by the caller: a skipped line makes the exit status 1 */
};

/* Options that select records, named as in sacct: the same for every command that reads records. */

enum { INPUT_ACCT_DIR = 512, INPUT_DB, INPUT_NAME, INPUT_STRICT };

#define INPUT_LETTERS "j:u:A:r:N:M:S:E:v"

/* For the table of getopt_long(). */
#define INPUT_OPTIONS                                                                              \
    {"jobs", required_argument, NULL, 'j'}, {"user", required_argument, NULL, 'u'},                \
        {"accounts", required_argument, NULL, 'A'}, {"partition", required_argument, NULL, 'r'},   \
        {"nodelist", required_argument, NULL, 'N'}, {"clusters", required_argument, NULL, 'M'},    \
        {"name", required_argument, NULL, INPUT_NAME},                                             \
        {"starttime", required_argument, NULL, 'S'}, {"endtime", required_argument, NULL, 'E'},    \
        {"acct-dir", required_argument, NULL, INPUT_ACCT_DIR},                                     \
        {"db", required_argument, NULL, INPUT_DB}, {"strict", no_argument, NULL, INPUT_STRICT},    \
    {                                                                                              \
        "verbose", no_argument, NULL, 'v'                                                          \
    }

/** Take the value of such an option from getopt's optarg. @return whether it is one of them. */
bool input_option(struct report_input *input, int letter);

#endif
