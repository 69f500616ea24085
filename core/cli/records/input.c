/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "config/config.h"
#include "index/index.h"

/* --- a user's own records, if he may not read those of all ---------------------------------- */

static int own_fail_none(const struct query *query)
{
    const struct passwd *caller = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", caller ? caller->pw_name : "");
    if (filter_wants_text(&query->filter, FILTER_USER, &id)) {
        return command_fail(query->command, "none of your own records matches; only root reads the "
                                            "records of other users");
    }
    return command_fail(query->command,
                        "--user=%.60s: only root reads the records of other users; without it, "
                        "yours are shown",
                        query->wanted.user);
}

/* --- how far it has got ----------------------------------------------------------------------- */

#define WIDTH 24
#define FIRST_NS UINT64_C(1000000000)
#define REDRAW_NS UINT64_C(200000000)

/* A line on standard error, if it is a terminal, from one second after the beginning on. */
struct progress {
    const struct query *query;
    bool shown, drawn;           /* standard error is a terminal; the line is there now */
    uint64_t total, done, known; /* bytes of files; `known` bytes were skipped at once */
    size_t records;
    uint64_t begin_ns, next_ns; /* monotonic clock; next_ns: when to draw again */
};

static bool add_size(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    (void)offset;
    *(uint64_t *)context += file->size;
    return false;
}

/* @return the size of a file, or of an accounting folder's files [bytes]; 0: no such size */
static uint64_t progress_size(const struct apapi_scan_filter *filter, const char *path)
{
    uint64_t size = 0;
    const struct apapi_scan_sink sink = {.begin = add_size, .context = &size};
    struct apapi_scan *scan;
    struct stat status;

    if (strcmp(path, "-") == 0 || stat(path, &status) < 0) {
        return 0;
    }
    if (!S_ISDIR(status.st_mode)) {
        return S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    }
    scan = apapi_scan_create(filter, &sink, NULL);
    if (scan) {
        apapi_scan_folder(scan, path, NULL);
        apapi_scan_destroy(scan);
    }
    return size;
}

static void progress_draw(const struct progress *progress, uint64_t now_ns)
{
    double elapsed_s = duration(now_ns - progress->begin_ns) / NS_PER_S;
    double done = (double)(progress->done - progress->known);
    double all = (double)(progress->total - progress->known), share = done / all;
    char bar[WIDTH + 1];

    fputc('\r', stderr);
    if (progress->total > progress->known) {
        share = share > 1 ? 1 : share;
        memset(bar, '.', WIDTH);
        memset(bar, '#', (size_t)(share * WIDTH));
        bar[WIDTH] = '\0';
        fprintf(stderr, "[%s] %3.0f %%, ", bar, share * 100);
    }
    fprintf(stderr, "%zu records, %.0f/s", progress->records,
            (double)progress->records / elapsed_s);
    if (progress->total > progress->known && share > 0) {
        double left_s = ceil(elapsed_s / share - elapsed_s);

        fprintf(stderr, ", %.0f:%02.0f left", floor(left_s / 60), fmod(left_s, 60));
    }
    fputs("\033[K", stderr);
}

/* Note that more was read. @param left  bytes of the present file that were not yet added; for a
 * compressed file, bytes on the disk */
static void progress_add(struct progress *progress, uint64_t *left, uint64_t bytes, size_t records)
{
    const struct query *query = progress->query;
    uint64_t now_ns;

    bytes = bytes < *left ? bytes : *left;
    *left -= bytes;
    progress->done += bytes;
    progress->records += records;
    if (!progress->shown) {
        return;
    }
    now_ns = clock_monotonic_ns();
    if (now_ns >= progress->next_ns) {
        if (progress->total == 0) {
            /* Sizes are read only when a line is drawn: most readings are shorter. */
            for (size_t i = 0; i < query->file_count; i++) {
                progress->total += progress_size(&query->wanted, query->files[i]);
            }
            if (query->file_count == 0 && query->dir) {
                progress->total = progress_size(&query->wanted, query->dir);
            }
        }
        progress->drawn = true;
        progress->next_ns = now_ns + REDRAW_NS;
        progress_draw(progress, now_ns);
    }
}

/* Erase the line, before a message and at the end. errno is preserved. */
static void progress_erase(struct progress *progress)
{
    int saved_errno = errno;

    if (progress->drawn) {
        fputs("\r\033[K", stderr);
    }
    progress->drawn = false;
    errno = saved_errno;
}

/* --- reading -------------------------------------------------------------------------------- */

struct reading {
    struct query *query;
    const struct records_sink *sink;
    const char *folder; /* folder that is read; NULL: a file is read */
    size_t left_out;    /* lines and files that were left out ... */
    size_t files;       /* ... of which these are files or folders */
    struct progress progress;
    uint64_t left;           /* bytes of the present file that were not yet added to `progress` */
    struct own_index *index; /* NULL: none */
    struct own_question question;
    struct apapi_scan *scan;
    int failed; /* errno of the function that failed to take a record from the index; 0 */
};

static int sift(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct reading *reading = context;

    progress_add(&reading->progress, &reading->left, size + 1, 1);
    if (!query_has(reading->query, &record->id)) {
        return 0;
    }
    reading->query->taken++;
    return reading->sink->record ? reading->sink->record(record, line, size, reading->sink->context)
                                 : 0;
}

static void input_print_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct reading *reading = context;

    reading->left_out++;
    if (reading->query->verbose) {
        progress_erase(&reading->progress);
        command_note_skipped(reading->query->command, problem);
    }
}

static bool input_begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct reading *reading = context;
    const struct records_sink *sink = reading->sink;
    int read = !sink->begin || sink->begin(reading->folder, file, offset, sink->context);

    reading->left = file->size;
    if (reading->index) {
        read = reading->failed ? 0 : own_index_serve(reading->index, reading->scan, file, offset);
        reading->failed = read < 0 ? errno : reading->failed;
    } else {
        reading->progress.known += read > 0 ? *offset : file->size;
    }
    progress_add(&reading->progress, &reading->left, read > 0 ? *offset : file->size, 0);
    return read > 0;
}

static void input_end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct reading *reading = context;
    const struct records_sink *sink = reading->sink;

    progress_add(&reading->progress, &reading->left, reading->left, 0);
    if (sink->end) {
        sink->end(reading->folder, file, offset, sink->context);
    }
}

/* --- nodes' own records ----------------------------------------------------------------------- */

static int input_take_hour(const struct hour *hour, void *context)
{
    const struct records_sink *sink = ((const struct reading *)context)->sink;

    return sink->hour(hour, sink->context);
}

/* Pass on problems of files of nodes' own records; folders are reported with the records. */
static void input_note_hours(const struct apapi_scan_problem *problem, void *context)
{
    if (strstr(problem->file, ".hours")) {
        ((struct reading *)context)->files += problem->line == 0 && problem->offset == 0;
        input_print_problem(problem, context);
    }
}

/* Read a file that has grown from its start again: it is short. */
static bool input_begin_hours(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    bool read = input_begin_file(file, offset, context);

    *offset = 0;
    return read;
}

static int input_read_hours(struct reading *reading, const char *folder, struct apapi_error *err)
{
    const struct apapi_scan_sink sink = {.problem = input_note_hours,
                                         .begin = input_begin_hours,
                                         .end = input_end_file,
                                         .context = reading};

    return hours_read(folder, &reading->query->wanted, &sink, input_take_hour, err);
}

/* --- files ------------------------------------------------------------------------------------ */

/* @param folder  `path` is a folder; false: it may be one */
static int scan_source(struct reading *reading, const char *path, bool folder,
                       struct apapi_error *err)
{
    struct stat status;
    int result;

    if (!folder && strcmp(path, "-") == 0) {
        return apapi_scan_stream(reading->scan, STDIN_FILENO, "standard input", err);
    }
    folder = folder || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
    reading->folder = folder ? path : NULL;
    result = folder ? apapi_scan_folder(reading->scan, path, err)
                    : apapi_scan_file(reading->scan, path, err);
    return result == 0 && folder && reading->sink->hour ? input_read_hours(reading, path, err)
                                                        : result;
}

/* A file that cannot be read is named and left out, unless no file can be read. */
static int scan_files(struct reading *reading, struct apapi_error *err)
{
    struct query *query = reading->query;
    size_t failed = 0;

    if (query->file_count == 0) {
        return scan_source(reading, query->dir, true, err);
    }
    for (size_t i = 0; i < query->file_count; i++) {
        const char *file = query->files[i];

        reading->left = reading->progress.shown ? progress_size(NULL, file) : 0;
        if (scan_source(reading, file, false, err)) {
            if (!*err->text || errno == ENOMEM || ++failed == query->file_count) {
                return -1; /* also if the sink failed, which leaves `err` empty */
            }
            progress_erase(&reading->progress);
            command_fail(query->command, "%s", err->text);
            *err->text = '\0';
            query->incomplete = true;
        }
        progress_add(&reading->progress, &reading->left, reading->left, 0);
    }
    return 0;
}

/* Report what was not read, one line each. */
static void input_conclude(const struct reading *reading)
{
    struct query *query = reading->query;
    const char *hint = query->verbose ? "" : " (-v shows them)";
    size_t lines = reading->left_out - reading->files;

    if (lines > 0) {
        fprintf(stderr, "apapi %s: %zu line%s skipped%s\n", query->command, lines,
                text_plural(lines), hint);
    }
    if (reading->files > 0) {
        const char *plural = text_plural(reading->files);

        fprintf(stderr, "apapi %s: %zu file%s or folder%s cannot be read%s\n", query->command,
                reading->files, plural, plural, hint);
        query->incomplete = true;
    }
    query->left_out += reading->left_out;
}

/* --- the index that apapi keeps ------------------------------------------------------------- */

#define FROM_BYTES (64 << 20) /* a folder is indexed if this much of it is asked for */

static bool index_wants(const struct apapi_record *record, void *context)
{
    return query_has(((const struct reading *)context)->query, &record->id);
}

static void index_progress(uint64_t bytes, size_t records, void *context)
{
    progress_add(&((struct reading *)context)->progress, &bytes, bytes, records);
}

/* Open the index for a broad question about a folder. Without an index, each line is read. */
static void index_open(struct reading *reading)
{
    const struct query *query = reading->query;
    const struct config_setting *path = config_setting_find(query->config, "index", "path");
    bool selects = query->wanted.user || query->wanted.account || query->wanted.partition ||
                   query->wanted.cluster || query->job_names;
    struct apapi_error err = {""};

    if (query->no_index || query->verbose || query->jobs || query->file_count > 0 ||
        !(query->brief || selects) || (path && strcmp(path->value, CONFIG_OFF) == 0) ||
        (!path && progress_size(&query->wanted, query->dir) < FROM_BYTES)) {
        return;
    }
    reading->question = (struct own_question){.filter = &query->wanted,
                                              .wants = index_wants,
                                              .brief = query->brief,
                                              .progress = index_progress,
                                              .context = reading};
    reading->index = own_index_open(path ? path->value : NULL, query->dir, &err);
    if (reading->index) {
        own_index_ask(reading->index, &reading->question, &err);
    }
    progress_erase(&reading->progress);
    if (*err.text && !query->quiet) {
        fprintf(stderr, "apapi %s: no index: %s\n", query->command, err.text);
    }
}

static int input_read_files(struct reading *reading, const struct apapi_scan_sink *sink,
                            struct apapi_error *err)
{
    int result = -1, code;

    reading->scan = apapi_scan_create(&reading->query->wanted, sink, err);
    if (reading->scan) {
        index_open(reading);
        result = scan_files(reading, err);
        reading->files += apapi_scan_counts(reading->scan)->unreadable;
    }
    if (reading->failed) {
        errno = reading->failed;
        result = apapi_fail(err, errno, "%s", "");
    }
    code = reading->scan && errno == EINVAL ? EIO : errno; /* a file is wrong, not an option */
    own_index_close(reading->index);
    apapi_scan_destroy(reading->scan);
    reading->query->taken += reading->question.taken;
    errno = code;
    return result;
}

static int input_read_all(struct reading *reading, struct apapi_error *err)
{
    struct query *query = reading->query;
    const struct apapi_scan_sink sink = {.record = sift,
                                         .problem = input_print_problem,
                                         .begin = input_begin_file,
                                         .end = input_end_file,
                                         .context = reading};
    uint64_t now_ns = clock_monotonic_ns();
    int result;

    reading->progress = (struct progress){.query = query,
                                          .shown = isatty(STDERR_FILENO) == 1,
                                          .begin_ns = now_ns,
                                          .next_ns = now_ns + FIRST_NS};
    query->taken = 0;
    if (query->db) {
        result = db_read_records(query->db, &query->wanted, &sink, err);
    } else {
        result = input_read_files(reading, &sink, err);
    }
    progress_erase(&reading->progress);
    if (result == 0 && (!query->quiet || (reading->query->taken > 0 && !query->db))) {
        input_conclude(reading);
    }
    return result;
}

/* Report why nothing could be read, by `code` and err->text. @return the exit status */
static int input_fail(const struct reading *reading, int code, const struct apapi_error *err)
{
    const char *command = reading->query->command;

    return code == EACCES && reading->folder ? command_fail_folder(command, reading->folder)
           : code == EINVAL                  ? command_refuse(command, "%s", err->text)
                            : command_fail(command, "%s", *err->text ? err->text : strerror(code));
}

int records_feed(struct query *query, const struct records_sink *sink)
{
    struct reading reading = {.query = query, .sink = sink};
    struct apapi_error err;
    int result = input_read_all(&reading, &err), code = errno;

    if (query->quiet) {
        return result == 0 && query->taken ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (query->own && ((result == 0 && query->taken == 0) || (result && code == ENOENT))) {
        return own_fail_none(query);
    }
    if (sink->err && *sink->err->text) {
        return command_fail(query->command, "%s", sink->err->text);
    }
    return result ? input_fail(&reading, code, &err) : EXIT_SUCCESS;
}

int records_read(struct query *query, apapi_scan_f take, void *context)
{
    return records_feed(query, &(struct records_sink){.record = take, .context = context});
}

int records_read_hours(struct query *query, hour_f take, void *context)
{
    const struct records_sink sink = {.hour = take, .context = context};
    struct reading reading = {.query = query, .sink = &sink, .folder = query->dir};
    struct apapi_error err = {""};

    if (query->db ? db_read_hours(query->db, &query->wanted, take, context, &err)
                  : input_read_hours(&reading, query->dir, &err)) {
        return input_fail(&reading, errno, &err);
    }
    input_conclude(&reading);
    return EXIT_SUCCESS;
}

/* --- before and after ------------------------------------------------------------------------- */

int records_begin(struct query *query)
{
    static struct config config;
    static char own[PATH_MAX];
    int status;

    command_read_config(query->command, &config);
    query->config = &config;
    if (query->db && (query->dir || query->file_count > 0)) {
        return command_refuse(query->command, "--db cannot be combined with files or --acct-dir");
    }
    if (query->dir && query->file_count > 0) {
        return command_refuse(query->command, "either files or --acct-dir");
    }
    status = query_parse(query);
    if (status == EXIT_SUCCESS && !query->dir && !query->db && query->file_count == 0) {
        query->own = !query->of_nodes && geteuid() != 0 && *config.user_records &&
                     faccessat(AT_FDCWD, config.acct_dir, R_OK, AT_EACCESS) != 0;
        snprintf(own, sizeof own, "%.*s/%u", PATH_MAX - 16, config.user_records,
                 (unsigned)geteuid());
        query->dir = query->own ? own : config.acct_dir;
    }
    return status;
}

int records_end(struct query *query, int status)
{
    bool failed = query->incomplete || (query->strict && query->left_out > 0);

    config_clear(query->config);
    query_free(query);
    return status == EXIT_SUCCESS && failed ? EXIT_FAILURE : status;
}
