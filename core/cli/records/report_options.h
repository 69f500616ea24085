/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_REPORT_OPTIONS_H
#define APAPI_RECORDS_REPORT_OPTIONS_H
#include <getopt.h>
#include <stdbool.h>

#include "cli/records/report_input.h"

/* Options that choose records, in sacct's words: the same for every command that reads records. */

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

/** Take one of them over, with getopt's optarg. @return whether it is one. */
bool input_option(struct report_input *input, int letter);

#endif
