/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi import: loads records into a database. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/records/input.h"
#include "index/index.h"
#include "record/hour.h"

#define COMMAND "import"

struct import {
    struct query query;
    const char *url;
    bool dry_run;
    struct db_load *load; /* NULL: a dry run */
    size_t records;
    const char *named;      /* the folder that is read */
    char folder[PATH_MAX];  /* its name in the database; "": nothing is stored */
    struct apapi_error err; /* of the database; "": none */
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

static int import_check(const struct import *import)
{
    if (!import->url && !import->dry_run) {
        return command_refuse(COMMAND, "which database? --db names it, as sqlite:FILE");
    }
    if (import->query.dir && import->query.file_count > 0) {
        return command_refuse(COMMAND, "either files or --acct-dir");
    }
    return 0;
}

/* --- records, and nodes' own ------------------------------------------------------------------ */

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct import *import = context;

    import->records++;
    return import->load ? db_load_record(import->load, record, line, size, &import->err) : 0;
}

static int take_hour(const struct hour *hour, void *context)
{
    struct import *import = context;

    return import->load ? db_load_hour(import->load, hour, &import->err) : 0;
}

/* The database knows how far files of a folder were read, if all of their records were wanted. */
static void name_folder(struct import *import, const char *folder)
{
    const struct query *query = &import->query;

    if (folder != import->named) {
        import->named = folder;
        if (!import->load || query->from || query->to || !realpath(folder, import->folder) ||
            strlen(import->folder) >= DB_FOLDER_SIZE) {
            import->folder[0] = '\0';
        }
    }
}

static bool begin_file(const char *folder, const struct apapi_scan_file *file, uint64_t *offset,
                       void *context)
{
    struct import *import = context;
    int64_t known = 0;

    if (*import->err.text) {
        return false;
    }
    name_folder(import, folder);
    if (*import->folder) {
        known = db_load_offset(import->load, import->folder, file, &import->err);
    }
    *offset = known > 0 && (uint64_t)known <= file->size ? (uint64_t)known : 0;
    return known >= 0 && *offset < file->size;
}

static void end_file(const char *folder, const struct apapi_scan_file *file, uint64_t offset,
                     void *context)
{
    struct import *import = context;

    (void)folder;
    if (*import->folder && !*import->err.text) {
        db_load_note(import->load, import->folder, file, offset, &import->err);
    }
}

/* --- the command ------------------------------------------------------------------------------ */

static int import_conclude(const struct import *import)
{
    const struct db_load_counts *loaded;
    struct apapi_error err;
    int64_t jobs;

    if (!import->load) {
        printf("%zu records (not loaded: dry run)\n", import->records);
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    loaded = db_load_counts(import->load);
    jobs = db_load_finish(import->load, &err);
    if (jobs < 0) {
        return command_fail(COMMAND, "%s", err.text);
    }
    printf("%zu records added, %zu replaced, %zu known; %lld jobs added up", loaded->added,
           loaded->replaced, loaded->known, (long long)jobs);
    if (loaded->hours > 0) {
        printf("; %zu hour%s of nodes", loaded->hours, loaded->hours == 1 ? "" : "s");
    }
    putchar('\n');
    return command_finish(COMMAND, EXIT_SUCCESS);
}

static int import_run(struct import *import)
{
    const struct records_sink sink = {.record = take_record,
                                      .hour = take_hour,
                                      .begin = begin_file,
                                      .end = end_file,
                                      .err = &import->err,
                                      .context = import};
    struct apapi_error err = {""};
    struct db *db = NULL;
    int status;

    if (!import->dry_run && db_open(import->url, &db, &err)) {
        return errno == EINVAL ? command_refuse(COMMAND, "%s", err.text)
                               : command_fail(COMMAND, "%s", err.text);
    }
    import->load = db ? db_load_create(db, &err) : NULL;
    status = db && !import->load ? command_fail(COMMAND, "%s", err.text)
                                 : records_feed(&import->query, &sink);
    status = status ? status : import_conclude(import);
    db_load_destroy(import->load);
    db_close(db);
    return status;
}

int import_command(int argc, char **argv)
{
    static struct import import = {.query = {.command = COMMAND, .of_nodes = true}};
    struct query *query = &import.query;
    int status = command_options(&table, argc, argv, &import);

    if (status >= 0) {
        return status;
    }
    query_words(query, argv + optind, (size_t)(argc - optind), false);
    status = import_check(&import);
    if (status) {
        return status;
    }
    status = records_begin(query);
    return records_end(query, status ? status : import_run(&import));
}
