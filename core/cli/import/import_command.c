/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi import: loads records into a database. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/records/input.h"
#include "index/index.h"
#include "record/hour.h"

#define COMMAND "import"
#define OPTION_THREADS_MAX 63
#define THREADS_USUAL 8

/* Shared by all threads, protected by `lock` while they run. */
struct import {
    struct query query;
    unsigned threads; /* that decode records */
    const char *url;
    bool dry_run;
    struct db_load *load; /* NULL: a dry run */
    const char
        *folder; /* that is read, under the name stored in the database; NULL: nothing is stored */
    pthread_mutex_t lock;
    struct progress progress;
    int code; /* errno of the first error; 0: none */
    struct apapi_error err;
};

static int set_threads(void *target, const char *text, struct apapi_error *err)
{
    struct import *import = target;

    import->threads = (unsigned)positive_number(text, OPTION_THREADS_MAX);
    return import->threads ? 0 : apapi_fail(err, EINVAL, "--threads takes a number from 1 to 63");
}

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
    {0, "threads", " N", "threads that decode records; default: one per processor, at most 8",
     TO_CALL(set_threads)},
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

static int import_check(struct import *import)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (!import->url && !import->dry_run) {
        return command_refuse(COMMAND, "which database? --db names it, as sqlite:FILE");
    }
    if (import->query.dir && import->query.file_count > 0) {
        return command_refuse(COMMAND, "either files or --acct-dir");
    }
    if (import->threads == 0) {
        processors = processors < 1 ? 1 : processors;
        import->threads = processors > THREADS_USUAL ? THREADS_USUAL : (unsigned)processors;
    }
    return 0;
}

#define THREADS_MAX 64 /* more than --threads takes */
#define COUNTED 64     /* records between two updates of the bar, in a dry run */

/* Each worker reads its share of the files in a folder and decodes their records. */
struct worker {
    struct import *import;
    unsigned number, count;
    const char *path;
    struct apapi_scan *scan;
    struct db_batch *batch; /* NULL: records are only counted */
    size_t records;         /* not yet added to the progress */
    uint64_t bytes, left;   /* bytes: the same, of `left` of its files so far */
};

static int remember(struct import *import, int code, const struct apapi_error *err)
{
    if (import->code == 0) {
        import->code = code;
        import->err = *err;
    }
    errno = code;
    return -1;
}

static int flush_batch(struct worker *worker)
{
    struct import *import = worker->import;
    struct apapi_error err = {""};
    int result = -1;

    pthread_mutex_lock(&import->lock);
    if (import->code) {
        errno = import->code;
    } else if (worker->batch && db_load_batch(import->load, worker->batch, &err)) {
        remember(import, errno, &err);
    } else {
        progress_add(&import->progress, &worker->left, worker->bytes, worker->records);
        worker->records = 0;
        worker->bytes = 0;
        result = 0;
    }
    pthread_mutex_unlock(&import->lock);
    return result;
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *context)
{
    struct worker *worker = context;

    if (worker->batch && db_batch_add(worker->batch, record, line, size)) {
        pthread_mutex_lock(&worker->import->lock);
        remember(worker->import, ENOMEM, &(struct apapi_error){"no memory"});
        pthread_mutex_unlock(&worker->import->lock);
        return -1;
    }
    worker->records++;
    worker->bytes += size + 1;
    if (worker->batch ? db_batch_full(worker->batch) : worker->records == COUNTED) {
        return flush_batch(worker);
    }
    return 0;
}

static void report_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct worker *worker = context;

    if (worker->import->query.verbose) {
        pthread_mutex_lock(&worker->import->lock);
        progress_erase(&worker->import->progress);
        command_note_skipped("import", problem);
        pthread_mutex_unlock(&worker->import->lock);
    }
}

/* Decided by name, as the folder may change while the workers list it. */
static bool falls_to(const struct worker *worker, const struct apapi_scan_file *file)
{
    uint32_t hash = 2166136261;

    for (const char *at = file->day; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619;
    }
    for (const char *at = file->name; *at; at++) {
        hash = (hash ^ (unsigned char)*at) * 16777619;
    }
    return hash % worker->count == worker->number;
}

static bool begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct worker *worker = context;
    struct import *import = worker->import;
    struct apapi_error err = {""};
    int64_t known = 0;

    if (!falls_to(worker, file)) {
        return false;
    }
    pthread_mutex_lock(&import->lock);
    if (import->code) {
        known = -1;
    } else if (import->folder) {
        known = db_load_offset(import->load, import->folder, file, &err);
        if (known < 0) {
            remember(import, errno, &err);
        }
    }
    *offset = known > 0 && (uint64_t)known <= file->size ? (uint64_t)known : 0;
    import->progress.known += *offset;
    import->progress.done += *offset;
    worker->left += file->size - *offset;
    pthread_mutex_unlock(&import->lock);
    return known >= 0 && *offset < file->size;
}

static void end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct worker *worker = context;

    worker->bytes = worker->left;
    if (worker->import->folder) {
        db_batch_note(worker->batch, worker->import->folder, file, offset);
        if (db_batch_full(worker->batch)) {
            flush_batch(worker); /* stores the error */
        }
    }
}

/* --- threads -------------------------------------------------------------------------------- */

static int worker_init(struct worker *worker, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = query_filter(&worker->import->query);
    const struct apapi_scan_sink sink = {.record = take_record,
                                         .problem = report_problem,
                                         .begin = begin_file,
                                         .end = end_file,
                                         .context = worker};

    worker->scan = apapi_scan_create(&filter, &sink, err);
    if (worker->scan && worker->import->load) {
        worker->batch = db_batch_create(err);
    }
    return worker->scan && (worker->batch || !worker->import->load) ? 0 : -1;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct apapi_error err = {""};

    if (apapi_scan_folder(worker->scan, worker->path, &err) && *err.text) {
        pthread_mutex_lock(&worker->import->lock);
        remember(worker->import, errno, &err);
        pthread_mutex_unlock(&worker->import->lock);
    }
    flush_batch(worker);
    return NULL;
}

static int run_threads(struct worker *workers, unsigned count, struct apapi_error *err)
{
    pthread_t threads[THREADS_MAX];
    unsigned started = 1;
    int code = 0;

    while (started < count && code == 0) {
        code = pthread_create(&threads[started], NULL, work, &workers[started]);
        started += code == 0;
    }
    if (code == 0) {
        work(&workers[0]);
    }
    for (unsigned i = 1; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return code ? apapi_fail(err, code, "a thread cannot be started: %s", strerror(code)) : 0;
}

static int read_path(struct import *import, const char *path, bool folder, struct apapi_error *err)
{
    struct worker workers[THREADS_MAX];
    unsigned wanted = folder ? import->threads : 1;
    unsigned count = wanted > 0 && wanted < THREADS_MAX ? wanted : 1;
    size_t unreadable = 0;
    int result = 0;

    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker){.import = import, .number = i, .count = count, .path = path};
    }
    workers->left = folder || !import->progress.shown ? 0 : progress_size(NULL, path);
    for (unsigned i = 0; i < count && result == 0; i++) {
        result = worker_init(&workers[i], err);
    }
    if (result == 0 && folder) {
        result = run_threads(workers, count, err);
    } else if (result == 0 && strcmp(path, "-") == 0) {
        result = apapi_scan_stream(workers->scan, STDIN_FILENO, "standard input", err);
    } else if (result == 0) {
        result = apapi_scan_file(workers->scan, path, err);
    }
    if (result == 0 && !folder) {
        workers->bytes = workers->left;
        result = flush_batch(workers);
    }
    for (unsigned i = 0; i < count; i++) {
        const struct apapi_scan_counts *own =
            workers[i].scan ? apapi_scan_counts(workers[i].scan) : NULL;

        import->query.left_out += own ? own->skipped : 0;
        unreadable = own && own->unreadable > unreadable ? own->unreadable : unreadable;
        apapi_scan_destroy(workers[i].scan);
        db_batch_destroy(workers[i].batch);
    }
    import->query.left_out += unreadable; /* each of them has counted an unreadable folder */
    if (import->code) {
        return apapi_fail(err, import->code, "%s", import->err.text);
    }
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

static void end_hours(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct import *import = context;

    if (import->folder && db_load_note(import->load, import->folder, file, offset, &import->err)) {
        import->code = errno;
    }
}

static int read_hours(struct import *import, const char *path, struct apapi_error *err)
{
    const struct apapi_scan_filter filter = query_filter(&import->query);
    const struct hours_sink sink = {.hour = take_hour,
                                    .problem = report_hours_problem,
                                    .begin = begin_hours,
                                    .end = end_hours,
                                    .context = import};
    struct apapi_scan_counts found;
    int result = hours_read(path, &filter, &sink, &found, err);

    if (result == 0 && import->code) {
        errno = import->code;
        result = -1;
    }
    if (result && *import->err.text) {
        *err = import->err;
    }
    return result;
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
    if (result == 0 && folder) {
        result = read_hours(import, path, err);
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
    static struct import import = {.query = {.command = COMMAND, .of_nodes = true},
                                   .lock = PTHREAD_MUTEX_INITIALIZER};
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
