/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi import: loads records into a database. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "index/index.h"
#include "record/hour.h"

#define COMMAND "import"

struct import {
    struct query query;
    const char *url;
    bool dry_run;
};

static const struct option_row rows[] = {
    {0, "db", " URL",
     "sqlite:FILE,\n"
     "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]\n"
     "or postgresql://[user@][host[:port]]/database",
     TO_TEXT(struct import, url)},
    {0, "acct-dir", " DIR", "accounting folder; default: acct_dir of apapi.conf",
     TO_TEXT(struct import, query.dir)},
    {'S', "starttime", "=T", "records that ended at T or later; all files of these days are read",
     TO_TEXT(struct import, query.from)},
    {'E', "endtime", "=T", "records that ended before T", TO_TEXT(struct import, query.to)},
    {0, "dry-run", NULL, "read and count the records, without a database",
     TO_FLAG(struct import, dry_run)},
    {'v', "verbose", NULL, "show which lines were skipped, and why",
     TO_FLAG(struct import, query.verbose)},
    {0, "strict", NULL, "lines that are not records are an error; the others are loaded",
     TO_FLAG(struct import, query.strict)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi import --db URL [OPTION]... [FILE]...\n"
            "Load records into a database, each of them once. FILE is in the form of an\n"
            "accounting file, an accounting folder, or - for standard input; default: the\n"
            "accounting folder. From a folder only what is new since the last import is read.\n",
    .foot = "T is written " WHEN_FORMS ".\n"
            "A password is read from [client] of ~/.my.cnf, or of the option-file; of\n"
            "PostgreSQL from ~/.pgpass.\n"
            "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
    .column = 22,
    .rows = rows};

/* --- a dry run -------------------------------------------------------------------------------- */

static int pass_hour(const struct hour *hour, void *context)
{
    (void)hour;
    (void)context;
    return 0;
}

static int import_dry(struct import *import)
{
    int status = records_feed(&import->query, &(struct records_sink){.hour = pass_hour});

    if (status) {
        return status;
    }
    printf("%zu records (not loaded: dry run)\n", import->query.taken);
    return command_finish(COMMAND, EXIT_SUCCESS);
}

/* --- the command ------------------------------------------------------------------------------ */

static int import_conclude(struct db_load *load)
{
    const struct db_load_counts *loaded = db_load_counts(load);
    struct apapi_error err;
    int64_t jobs = db_load_finish(load, &err);

    if (jobs < 0) {
        return command_fail(COMMAND, "%s", err.text);
    }
    printf("%zu records added, %zu replaced, %zu known; %lld jobs added up", loaded->added,
           loaded->replaced, loaded->known, (long long)jobs);
    if (loaded->hours > 0) {
        printf("; %zu hour%s of nodes", loaded->hours, text_plural(loaded->hours));
    }
    putchar('\n');
    return command_finish(COMMAND, EXIT_SUCCESS);
}

static int import_run(struct import *import)
{
    struct query *query = &import->query;
    struct apapi_error err = {""};
    struct db_load *load = db_load_create(import->url, !query->from && !query->to, &err);
    int status;

    if (!load) {
        return errno == EINVAL ? command_refuse(COMMAND, "%s", err.text)
                               : command_fail(COMMAND, "%s", err.text);
    }
    status = records_feed(query, &(struct records_sink){.record = db_load_record,
                                                        .hour = db_load_hour,
                                                        .begin = db_load_begin,
                                                        .end = db_load_end,
                                                        .err = &db_load_counts(load)->err,
                                                        .context = load});
    status = status ? status : import_conclude(load);
    db_load_destroy(load);
    return status;
}

int import_command(int argc, char **argv)
{
    static struct import import = {.query = {.command = COMMAND, .of_nodes = true}};
    struct query *query = &import.query;
    int status = option_table_read(&table, argc, argv, &import);

    if (status >= 0) {
        return status;
    }
    query_words(query, argv + optind, (size_t)(argc - optind), false);
    if (!import.url && !import.dry_run) {
        return command_refuse(COMMAND, "which database? --db names it, as sqlite:FILE");
    }
    status = records_begin(query);
    return records_end(query, status           ? status
                              : import.dry_run ? import_dry(&import)
                                               : import_run(&import));
}
