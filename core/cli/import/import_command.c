/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi import: loads records into a database. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/records/input.h"
#include "index/index.h"
#include "record/hour.h"

#define COMMAND "import"
#define COUNTED 64 /* records between two updates of the bar */

struct import {
    struct query query;
    const char *url;
    bool dry_run;
    struct db_load *load; /* NULL: a dry run */
    const char
        *folder; /* that is read, under the name stored in the database; NULL: nothing is stored */
    struct progress progress;
    size_t records;         /* not yet added to the progress */
    uint64_t bytes, left;   /* bytes: the same, of `left` of the file so far */
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

/* --- records -------------------------------------------------------------------------------- */

static void tell_progress(struct import *import)
{
    progress_add(&import->progress, &import->left, import->bytes, import->records);
    import->records = 0;
    import->bytes = 0;
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct import *import = context;

    if (import->load && db_load_record(import->load, record, line, size, &import->err)) {
        return -1;
    }
    import->bytes += size + 1;
    if (++import->records == COUNTED) {
        tell_progress(import);
    }
    return 0;
}

static void report_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct import *import = context;

    if (import->query.verbose) {
        progress_erase(&import->progress);
        command_note_skipped(COMMAND, problem);
    }
}

static bool begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct import *import = context;
    int64_t known = 0;

    if (*import->err.text) {
        return false;
    }
    if (import->folder) {
        known = db_load_offset(import->load, import->folder, file, &import->err);
    }
    *offset = known > 0 && (uint64_t)known <= file->size ? (uint64_t)known : 0;
    import->progress.known += *offset;
    import->progress.done += *offset;
    import->left += file->size - *offset;
    return known >= 0 && *offset < file->size;
}

static void end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct import *import = context;

    import->bytes = import->left;
    tell_progress(import);
    if (import->folder && !*import->err.text) {
        db_load_note(import->load, import->folder, file, offset, &import->err);
    }
}

static int read_path(struct import *import, const char *path, bool folder, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = query_filter(&import->query);
    const struct apapi_scan_sink sink = {.record = take_record,
                                         .problem = report_problem,
                                         .begin = begin_file,
                                         .end = end_file,
                                         .context = import};
    struct apapi_scan *scan = apapi_scan_create(&filter, &sink, err);
    int result;

    if (!scan) {
        return -1;
    }
    import->left = folder || !import->progress.shown ? 0 : progress_size(NULL, path);
    if (folder) {
        result = apapi_scan_folder(scan, path, err);
    } else if (strcmp(path, "-") == 0) {
        result = apapi_scan_stream(scan, STDIN_FILENO, "standard input", err);
    } else {
        result = apapi_scan_file(scan, path, err);
    }
    import->bytes = import->left;
    tell_progress(import);
    import->query.left_out +=
        apapi_scan_counts(scan)->skipped + apapi_scan_counts(scan)->unreadable;
    apapi_scan_destroy(scan);
    return result;
}

/* --- nodes' own records --------------------------------------------------------------------- */

static int take_hour(const struct hour *hour, void *context)
{
    struct import *import = context;

    return import->load ? db_load_hour(import->load, hour, &import->err) : 0;
}

static void report_hours_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct import *import = context;

    if (!strstr(problem->file, ".hours")) {
        return; /* a folder, which was reported with the records */
    }
    import->query.left_out++;
    if (import->query.verbose) {
        command_note_skipped("import", problem);
    }
}

/* A file that has grown is read from its start: it is short. */
static bool begin_hours(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct import *import = context;
    int64_t known =
        import->folder ? db_load_offset(import->load, import->folder, file, &import->err) : 0;

    *offset = 0;
    return known < 0 || (uint64_t)known != file->size;
}

static int read_hours(struct import *import, const char *path, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = query_filter(&import->query);
    const struct hours_sink sink = {.hour = take_hour,
                                    .problem = report_hours_problem,
                                    .begin = begin_hours,
                                    .end = end_file,
                                    .context = import};
    struct apapi_scan_counts found;

    return hours_read(path, &filter, &sink, &found, err);
}

/* --- what is read --------------------------------------------------------------------------- */

static int read_one(struct import *import, const char *path, struct apapi_error *err)
{
    const struct query *query = &import->query;
    struct stat status;
    bool folder = path == query->dir ||
                  (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode));
    char *whole = folder ? realpath(path, NULL) : NULL;
    bool all = !query->from && !query->to;
    int result;

    import->folder = whole && all && import->load && strlen(whole) < DB_FOLDER_SIZE ? whole : NULL;
    result = read_path(import, path, folder, err);
    if (result == 0 && folder && !*import->err.text) {
        result = read_hours(import, path, err);
    }
    if (*import->err.text) {
        *err = import->err;
        result = -1;
    }
    import->folder = NULL;
    free(whole);
    return result;
}

static int read_all(struct import *import, struct apapi_error *err)
{
    const struct query *query = &import->query;
    const struct apapi_scan_filter filter = query_filter(query);
    int result = 0;

    import->progress = progress_begin(
        &(struct progress_input){&filter, query->dir, query->files, query->file_count});
    if (query->file_count == 0) {
        result = read_one(import, query->dir, err);
    }
    for (size_t i = 0; i < query->file_count && result == 0; i++) {
        result = read_one(import, query->files[i], err);
    }
    progress_erase(&import->progress);
    return result;
}

/* --- the command ------------------------------------------------------------------------------ */

static int load_all(struct import *import, struct apapi_error *err)
{
    const struct db_load_counts *loaded = import->load ? db_load_counts(import->load) : NULL;
    int64_t jobs;

    if (read_all(import, err)) {
        return -1;
    }
    if (!loaded) {
        printf("%zu records (not loaded: dry run)\n", import->progress.records);
        return 0;
    }
    jobs = db_load_finish(import->load, err);
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

static int import_run(struct import *import)
{
    const struct query *query = &import->query;
    struct apapi_error err = {""};
    struct db *db = NULL;
    int result = 0;

    if (!import->dry_run && db_open(import->url, &db, &err)) {
        return errno == EINVAL ? command_refuse(COMMAND, "%s", err.text)
                               : command_fail(COMMAND, "%s", err.text);
    }
    if (db) {
        import->load = db_load_create(db, &err);
        result = import->load ? 0 : -1;
    }
    result = result || load_all(import, &err);
    db_load_destroy(import->load);
    db_close(db);
    if (result) {
        return command_fail(COMMAND, "%s", err.text);
    }
    command_count_skipped(COMMAND, query->left_out, query->verbose);
    return command_finish(COMMAND, EXIT_SUCCESS);
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
