/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/import_read.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apapi/scan.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "database/db_tables.h"
#include "record/hour.h"

#define THREADS_MAX 64
#define COUNTED 64 /* records between two updates of the bar, in a dry run */

/* Shared by all threads, protected by `lock` while they run. */
struct import {
    const struct import_input *input;
    struct db_load *load;
    const char
        *folder; /* that is read, under the name stored in the database; NULL: nothing is stored */
    pthread_mutex_t lock;
    struct progress progress;
    size_t bad_hours;
    int code; /* errno of the first error; 0: none */
    struct apapi_error err;
};

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

static int import_read_remember(struct import *import, int code, const struct apapi_error *err)
{
    if (import->code == 0) {
        import->code = code;
        import->err = *err;
    }
    errno = code;
    return -1;
}

static int import_read_flush(struct worker *worker)
{
    struct import *import = worker->import;
    struct apapi_error err = {""};
    int result = -1;

    pthread_mutex_lock(&import->lock);
    if (import->code) {
        errno = import->code;
    } else if (worker->batch && !db_batch_is_empty(worker->batch) &&
               db_load_batch(import->load, worker->batch, &err)) {
        import_read_remember(import, errno, &err);
    } else {
        progress_add(&import->progress, &worker->left, worker->bytes, worker->records);
        worker->records = 0;
        worker->bytes = 0;
        result = 0;
    }
    pthread_mutex_unlock(&import->lock);
    return result;
}

static int import_read_take(const struct apapi_record *record, const char *line, size_t size,
                            void *context)
{
    struct worker *worker = context;

    if (worker->batch && db_batch_add(worker->batch, record, line, size)) {
        pthread_mutex_lock(&worker->import->lock);
        import_read_remember(worker->import, ENOMEM, &(struct apapi_error){"no memory"});
        pthread_mutex_unlock(&worker->import->lock);
        return -1;
    }
    worker->records++;
    worker->bytes += size + 1;
    if (worker->batch ? db_batch_full(worker->batch) : worker->records == COUNTED) {
        return import_read_flush(worker);
    }
    return 0;
}

static void import_read_report_problem(const struct apapi_scan_problem *problem, void *context)
{
    const struct worker *worker = context;

    if (worker->import->input->verbose) {
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

static bool import_read_begin(const struct apapi_scan_file *file, uint64_t *offset, void *context)
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
            import_read_remember(import, errno, &err);
        }
    }
    *offset = known > 0 && (uint64_t)known <= file->size ? (uint64_t)known : 0;
    import->progress.known += *offset;
    import->progress.done += *offset;
    worker->left += file->size - *offset;
    pthread_mutex_unlock(&import->lock);
    return known >= 0 && *offset < file->size;
}

static void import_read_end(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct worker *worker = context;

    worker->bytes = worker->left;
    if (worker->import->folder) {
        db_batch_note(worker->batch, worker->import->folder, file, offset);
        if (db_batch_full(worker->batch)) {
            import_read_flush(worker); /* stores the error */
        }
    }
}

/* --- threads -------------------------------------------------------------------------------- */

static int worker_init(struct worker *worker, struct apapi_error *err)
{
    const struct import_input *input = worker->import->input;
    const struct apapi_scan_filter filter = {.from_unix_ns = input->from_ns,
                                             .to_unix_ns = input->to_ns};
    const struct apapi_scan_sink sink = {.record = import_read_take,
                                         .problem = import_read_report_problem,
                                         .begin = import_read_begin,
                                         .end = import_read_end,
                                         .context = worker};

    worker->scan = apapi_scan_create(&filter, &sink, err);
    if (worker->scan && worker->import->load) {
        worker->batch = db_batch_create(worker->import->load, err);
    }
    return worker->scan && (worker->batch || !worker->import->load) ? 0 : -1;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct apapi_error err = {""};

    if (apapi_scan_folder(worker->scan, worker->path, &err) && *err.text) {
        pthread_mutex_lock(&worker->import->lock);
        import_read_remember(worker->import, errno, &err);
        pthread_mutex_unlock(&worker->import->lock);
    }
    import_read_flush(worker);
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

/* Add the skipped lines of the others. Each of them has counted an unreadable folder. */
static void add_counts(const struct worker *workers, unsigned count, struct import_counts *counts)
{
    size_t unreadable = 0;

    for (unsigned i = 0; i < count; i++) {
        const struct apapi_scan_counts *own =
            workers[i].scan ? apapi_scan_counts(workers[i].scan) : NULL;

        counts->left_out += own ? own->skipped : 0;
        unreadable = own && own->unreadable > unreadable ? own->unreadable : unreadable;
    }
    counts->left_out += unreadable;
}

static int import_read_path(struct import *import, const char *path, bool folder,
                            struct import_counts *counts, struct apapi_error *err)
{
    struct worker workers[THREADS_MAX];
    unsigned count = folder && import->input->threads < THREADS_MAX ? import->input->threads : 1;
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
        result = import_read_flush(workers);
    }
    add_counts(workers, count, counts);
    for (unsigned i = 0; i < count; i++) {
        apapi_scan_destroy(workers[i].scan);
        db_batch_destroy(workers[i].batch);
    }
    if (import->code) {
        return apapi_fail(err, import->code, "%s", import->err.text);
    }
    return result;
}

/* --- nodes' own records --------------------------------------------------------------------- */

static int import_read_hour(const struct hour *hour, void *context)
{
    struct import *import = context;

    return import->load ? db_load_hour(import->load, hour, &import->err) : 0;
}

static void import_read_hours_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct import *import = context;

    if (!strstr(problem->file, ".hours")) {
        return; /* a folder, which was reported with the records */
    }
    import->bad_hours++;
    if (import->input->verbose) {
        command_note_skipped("import", problem);
    }
}

/* A file that has grown is read from its start: it is short. */
static bool import_read_hours_begin(const struct apapi_scan_file *file, void *context)
{
    struct import *import = context;
    int64_t known =
        import->folder ? db_load_offset(import->load, import->folder, file, &import->err) : 0;

    return known < 0 || (uint64_t)known != file->size;
}

static void import_read_hours_end(const struct apapi_scan_file *file, void *context)
{
    struct import *import = context;

    if (import->folder && db_load_hours_end(import->load, import->folder, file, &import->err)) {
        import->code = errno;
    }
}

static int import_read_hours(struct import *import, const char *path, struct import_counts *counts,
                             struct apapi_error *err)
{
    const struct apapi_scan_filter filter = {.from_unix_ns = import->input->from_ns,
                                             .to_unix_ns = import->input->to_ns};
    const struct hours_sink sink = {.hour = import_read_hour,
                                    .problem = import_read_hours_problem,
                                    .begin = import_read_hours_begin,
                                    .end = import_read_hours_end,
                                    .context = import};
    struct apapi_scan_counts found;
    int result = hours_read(path, &filter, &sink, &found, err);

    counts->left_out += import->bad_hours;
    import->bad_hours = 0;
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

static bool is_folder(const char *path)
{
    struct stat status;

    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int import_read_one(struct import *import, const char *path, bool folder,
                           struct import_counts *counts, struct apapi_error *err)
{
    const struct import_input *input = import->input;
    char *whole = folder ? realpath(path, NULL) : NULL;
    bool all = input->from_ns == 0 && input->to_ns == 0;
    int result;

    import->folder = whole && all && import->load && strlen(whole) < DB_FOLDER_SIZE ? whole : NULL;
    result = import_read_path(import, path, folder, counts, err);
    if (result == 0 && folder) {
        result = import_read_hours(import, path, counts, err);
    }
    import->folder = NULL;
    free(whole);
    return result;
}

static int import_read_all(struct import *import, struct import_counts *counts,
                           struct apapi_error *err)
{
    const struct import_input *input = import->input;

    if (input->file_count == 0) {
        return import_read_one(import, input->dir, true, counts, err);
    }
    for (size_t i = 0; i < input->file_count; i++) {
        if (import_read_one(import, input->files[i], is_folder(input->files[i]), counts, err)) {
            return -1;
        }
    }
    return 0;
}

int import_read(const struct import_input *input, struct db_load *load,
                struct import_counts *counts, struct apapi_error *err)
{
    struct import import = {.input = input, .load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct apapi_scan_filter filter = {.from_unix_ns = input->from_ns,
                                             .to_unix_ns = input->to_ns};
    int result, code;

    import.progress = progress_begin(
        &(struct progress_input){&filter, input->dir, input->files, input->file_count});
    result = import_read_all(&import, counts, err);
    code = errno;
    progress_erase(&import.progress);
    pthread_mutex_destroy(&import.lock);
    counts->records = import.progress.records;
    errno = code;
    if (result == 0 && load) {
        result = db_load_commit(load, err);
    }
    return result;
}
