/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi import: loads records into a database. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/import/import_read.h"
#include "cli/when.h"
#include "config/config.h"
#include "database/db.h"

#define COMMAND "import"
#define OPTION_THREADS_MAX 63
#define THREADS_USUAL 8

struct options {
    struct import_input input;
    const char *url, *since, *until;
    bool dry_run, no_events, strict;
};

static int set_threads(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->input.threads = (unsigned)positive_number(text, OPTION_THREADS_MAX);
    return options->input.threads
               ? 0
               : apapi_fail(err, EINVAL, "--threads takes a number from 1 to 63");
}

static const struct option_row rows[] = {
    {0, "db", " URL",
     "sqlite:FILE or\n"
     "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]",
     TO_TEXT(struct options, url)},
    {0, "acct-dir", " DIR", "accounting folder; default: acct_dir of apapi.conf",
     TO_TEXT(struct options, input.dir)},
    {'S', "starttime", "=T", "records that ended at T or later; all files of these days are read",
     TO_TEXT(struct options, since)},
    {0, "since", "=T", NULL, TO_TEXT(struct options, since)}, /* old name */
    {'E', "endtime", "=T", "records that ended before T", TO_TEXT(struct options, until)},
    {0, "until", "=T", NULL, TO_TEXT(struct options, until)}, /* old name */
    {0, "no-events", NULL, "without the tables of components and events",
     TO_FLAG(struct options, no_events)},
    {0, "threads", " N", "threads that decode records; default: one per processor, at most 8",
     TO_CALL(set_threads)},
    {0, "dry-run", NULL, "read and count the records, without a database",
     TO_FLAG(struct options, dry_run)},
    {'n', "dry-run", NULL, NULL, TO_FLAG(struct options, dry_run)}, /* old name */
    {'v', "verbose", NULL, "show which lines were skipped, and why",
     TO_FLAG(struct options, input.verbose)},
    {0, "strict", NULL, "lines that are not records are an error; the others are loaded",
     TO_FLAG(struct options, strict)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi import --db URL [OPTION]... [FILE]...\n"
            "Load records into a database, each of them once. FILE is in the form of an\n"
            "accounting file, an accounting folder, or - for standard input; default: the\n"
            "accounting folder. From a folder only what is new since the last import is read.\n",
    .foot = "T is written " WHEN_FORMS ".\n"
            "A password is read from [client] of ~/.my.cnf, or of the option-file.\n"
            "Exit status: 0 done, 1 failure, 2 wrong usage.\n",
    .column = 22,
    .rows = rows};

static int import_command_complete(struct options *options)
{
    struct apapi_error err;
    int64_t now_ns = clock_unix_ns();

    if (!options->url && !options->dry_run) {
        return command_refuse(COMMAND, "which database? --db names it, as sqlite:FILE");
    }
    if (options->input.dir && options->input.file_count > 0) {
        return command_refuse(COMMAND, "either files or --acct-dir");
    }
    if ((options->since && when_parse(options->since, now_ns, &options->input.from_ns, &err)) ||
        (options->until && when_parse(options->until, now_ns, &options->input.to_ns, &err))) {
        return command_refuse(COMMAND, err.text);
    }
    if (options->input.threads == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);

        options->input.threads = processors < 1               ? 1
                                 : processors > THREADS_USUAL ? THREADS_USUAL
                                                              : (unsigned)processors;
    }
    return 0;
}

static int import_command_finish(const struct options *options, const struct import_counts *counts)
{
    command_count_skipped(COMMAND, counts->left_out, options->input.verbose);
    return command_finish(COMMAND,
                          options->strict && counts->left_out ? EXIT_FAILURE : EXIT_SUCCESS);
}

static int load_all(const struct options *options, struct db_load *load,
                    struct import_counts *counts, struct apapi_error *err)
{
    const struct db_load_counts *loaded = db_load_counts(load);
    int64_t jobs;

    if (import_read(&options->input, load, counts, err)) {
        return -1;
    }
    jobs = db_load_jobs(load, err);
    if (jobs < 0) {
        return -1;
    }
    printf("%zu records added, %zu replaced, %zu known; %lld jobs added up", loaded->added,
           loaded->replaced, loaded->known, (long long)jobs);
    if (loaded->hours > 0) {
        printf("; %zu hour%s of nodes", loaded->hours, loaded->hours == 1 ? "" : "s");
    }
    putchar('\n');
    return 0;
}

static int import(const struct options *options)
{
    struct import_counts counts = {0};
    struct db_load *load = NULL;
    struct apapi_error err = {""};
    struct db *db;
    int result;

    if (db_open(options->url, &db, &err)) {
        int code = errno;

        command_fail(COMMAND, err.text);
        return code == EINVAL ? USAGE_ERROR : EXIT_FAILURE;
    }
    load = db_load_create(db, !options->no_events, &err);
    result = load ? load_all(options, load, &counts, &err) : -1;
    db_load_destroy(load);
    db_close(db);
    return result ? command_fail(COMMAND, err.text) : import_command_finish(options, &counts);
}

static int import_command_count(const struct options *options)
{
    struct import_counts counts = {0};
    struct apapi_error err = {""};

    if (import_read(&options->input, NULL, &counts, &err)) {
        return command_fail(COMMAND, err.text);
    }
    printf("%zu records (not loaded: dry run)\n", counts.records);
    return import_command_finish(options, &counts);
}

static int import_command_run(struct options *options)
{
    struct config config;
    int status = import_command_complete(options);

    if (status) {
        return status;
    }
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    if (!options->input.dir) {
        options->input.dir = config.acct_dir;
    }
    status = options->dry_run ? import_command_count(options) : import(options);
    config_clear(&config);
    return status;
}

int import_command(int argc, char **argv)
{
    struct options options = {0};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    options.input.files = argv + optind;
    options.input.file_count = (size_t)(argc - optind);
    return import_command_run(&options);
}
