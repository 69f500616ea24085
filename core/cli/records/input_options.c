/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/input_options.h"

const struct option_row input_filter_rows[] = {
    {'M', "clusters", "=CLUSTER,...", "  ", TO_TEXT(struct report_input, clusters)},
    {'u', "user", "=USER|UID,...", "  ", TO_TEXT(struct report_input, users)},
    {'N', "nodelist", "=NODES", "", TO_TEXT(struct report_input, nodes)},
    {'A', "accounts", "=ACCOUNT,...", "  ", TO_TEXT(struct report_input, accounts)},
    {'r', "partition", "=PARTITION,...", "  ", TO_TEXT(struct report_input, partitions)},
    {0, "name", "=JOBNAME,...", "", TO_TEXT(struct report_input, job_names)},
    {'S', "starttime", "=TIME", ", ", TO_TEXT(struct report_input, from_text)},
    {'E', "endtime", "=TIME", "records that ended in this time",
     TO_TEXT(struct report_input, to_text)},
    {0}};

const struct option_row input_source_rows[] = {
    {0, "acct-dir", "=DIR", "accounting folder, instead of acct_dir in apapi.conf",
     TO_TEXT(struct report_input, dir)},
    {0, "db", "=URL", "a database that apapi import has filled, instead of files",
     TO_TEXT(struct report_input, db)},
    {0, "strict", NULL, "exit status 1 if a line is skipped", TO_FLAG(struct report_input, strict)},
    {'v', "verbose", NULL, "show which lines are skipped, and why",
     TO_FLAG(struct report_input, verbose)},
    {0}};
