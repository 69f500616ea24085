/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "config/config.h"
#include "index/index.h"

/* --- a user's own records, if he may not read those of all ---------------------------------- */

static bool is_readable(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static int own_fail_none(const struct query *query)
{
    const struct passwd *caller = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", caller ? caller->pw_name : "");
    if (query_has_user(query, &id)) {
        return command_fail(query->command, "none of your own records matches; only root reads the "
                                            "records of other users");
    }
    return command_fail(query->command,
                        "--user=%.60s: only root reads the records of other users; without it, "
                        "yours are shown",
                        query->users);
}

/* --- reading -------------------------------------------------------------------------------- */

struct reading {
    struct query *query;
    const char *folder;              /* named as a file, that is read; NULL */
    struct apapi_scan_filter filter; /* lines that the reader may skip before decoding */
    size_t taken, skipped;           /* skipped: of a database */
    struct progress progress;
    uint64_t left; /* bytes of the present file that were not yet added to it */
    apapi_scan_f take;
    void *context;
    struct own_index *index; /* NULL: none */
    struct own_question question;
    struct apapi_scan *scan;
    int failed; /* errno of who took a record from the index; 0 */
};

static int sift(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct reading *reading = context;

    progress_add(&reading->progress, &reading->left, size + 1, 1);
    if (!query_has(reading->query, &record->id)) {
        return 0;
    }
    reading->taken++;
    return reading->take(record, line, size, reading->context);
}

static void input_print_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct reading *reading = context;

    reading->skipped++;
    if (reading->query->verbose) {
        progress_erase(&reading->progress);
        command_note_skipped(reading->query->command, problem);
    }
}

static bool input_begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct reading *reading = context;
    int read = 1;

    reading->left = file->size;
    if (reading->index) {
        read = reading->failed ? 0 : own_index_serve(reading->index, reading->scan, file, offset);
        reading->failed = read < 0 ? errno : reading->failed;
        progress_add(&reading->progress, &reading->left, read > 0 ? *offset : file->size, 0);
    }
    return read > 0;
}

static void input_end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct reading *reading = context;

    (void)file;
    (void)offset;
    progress_add(&reading->progress, &reading->left, reading->left, 0);
}

static int scan_named(struct apapi_scan *scan, struct reading *reading, const char *file,
                      struct apapi_error *err)
{
    struct stat status;

    if (strcmp(file, "-") == 0) {
        return apapi_scan_stream(scan, STDIN_FILENO, "standard input", err);
    }
    reading->folder = stat(file, &status) == 0 && S_ISDIR(status.st_mode) ? file : NULL;
    return reading->folder ? apapi_scan_folder(scan, file, err) : apapi_scan_file(scan, file, err);
}

static int scan_files(struct apapi_scan *scan, struct reading *reading, struct apapi_error *err)
{
    const struct query *query = reading->query;

    if (query->file_count == 0) {
        return apapi_scan_folder(scan, query->dir, err);
    }
    for (size_t i = 0; i < query->file_count; i++) {
        const char *file = query->files[i];

        reading->left = reading->progress.shown ? progress_size(NULL, file) : 0;
        if (scan_named(scan, reading, file, err)) {
            return -1;
        }
        progress_add(&reading->progress, &reading->left, reading->left, 0);
    }
    return 0;
}

/* Report what was not read, one line each. */
static void input_conclude(struct query *query, const struct apapi_scan_counts *counts)
{
    const char *hint = query->verbose ? "" : " (-v shows them)";

    if (counts->skipped > 0) {
        fprintf(stderr, "apapi %s: %zu line%s skipped%s\n", query->command, counts->skipped,
                text_plural(counts->skipped), hint);
    }
    if (counts->unreadable > 0) {
        fprintf(stderr, "apapi %s: %zu file%s or folders cannot be read%s\n", query->command,
                counts->unreadable, text_plural(counts->unreadable), hint);
    }
    query->left_out += counts->skipped + counts->unreadable;
}

/* --- the index that apapi keeps ------------------------------------------------------------- */

#define FROM_BYTES (64 << 20) /* a folder is indexed if so much of it is asked for */

static bool index_wants(const struct apapi_record *record, void *context)
{
    return query_has(((const struct reading *)context)->query, &record->id);
}

static void index_progress(uint64_t bytes, size_t records, void *context)
{
    progress_add(&((struct reading *)context)->progress, &bytes, bytes, records);
}

/* For broad questions about a folder. Without it, each line is read. */
static void index_open(struct reading *reading)
{
    const struct query *query = reading->query;
    const struct config_setting *path = config_setting_find(query->config, "index", "path");
    bool selects =
        query->users || query->accounts || query->partitions || query->clusters || query->job_names;
    struct apapi_error err = {""};

    if (query->no_index || query->verbose || query->jobs || query->file_count > 0 ||
        !(query->brief || selects) || (path && strcmp(path->value, CONFIG_OFF) == 0) ||
        (!path && progress_size(&reading->filter, query->dir) < FROM_BYTES)) {
        return;
    }
    reading->question = (struct own_question){.filter = &reading->filter,
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
    struct apapi_scan *scan = apapi_scan_create(&reading->filter, sink, err);
    int result = -1, code;

    reading->scan = scan;
    if (scan) {
        index_open(reading);
        result = scan_files(scan, reading, err);
    }
    if (reading->failed) {
        errno = reading->failed;
        result = apapi_fail(err, errno, "%s", "");
    }
    code = scan && errno == EINVAL ? EIO : errno; /* an error of a file, not of the options */
    own_index_close(reading->index);
    reading->taken += reading->question.taken;
    progress_erase(&reading->progress);
    if (result == 0 && (!reading->query->quiet || reading->taken)) {
        input_conclude(reading->query, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
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
    int result;

    reading->filter = query_filter(query);
    reading->progress = progress_begin(
        &(struct progress_input){&reading->filter, query->dir, query->files, query->file_count});
    if (!query->db) {
        return input_read_files(reading, &sink, err);
    }
    result = db_read_records(query->db,
                             &(struct db_wanted){&reading->filter, query->clusters, query->users,
                                                 query->accounts, query->partitions},
                             &sink, err);
    progress_erase(&reading->progress);
    if (result == 0 && !query->quiet) {
        input_conclude(query, &(struct apapi_scan_counts){.skipped = reading->skipped});
    }
    return result;
}

int records_fail(const struct query *query, int code, const struct apapi_error *err)
{
    if (code == EACCES && !query->db && query->file_count == 0) {
        return command_fail_folder(query->command, query->dir);
    }
    return code == EINVAL
               ? command_refuse(query->command, "%s", err->text)
               : command_fail(query->command, "%s", *err->text ? err->text : strerror(code));
}

int records_read(struct query *query, apapi_scan_f take, void *context)
{
    struct reading reading = {.query = query, .take = take, .context = context};
    struct apapi_error err;
    int result = input_read_all(&reading, &err), code = errno;

    if (query->quiet) {
        return result == 0 && reading.taken ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    if (query->own && ((result == 0 && reading.taken == 0) || (result && code == ENOENT))) {
        return own_fail_none(query);
    }
    if (result && code == EACCES && reading.folder) {
        return command_fail_folder(query->command, reading.folder);
    }
    return result ? records_fail(query, code, &err) : EXIT_SUCCESS;
}

/* --- before and after ------------------------------------------------------------------------- */

int records_begin(struct query *query)
{
    static struct config config;
    static char own[PATH_MAX];
    int status;

    config_defaults(&config);
    config_read(&config, config_path(), NULL); /* `apapi config --check` reports what is wrong */
    query->config = &config;
    if (query->db && (query->dir || query->file_count > 0)) {
        return command_refuse(query->command, "--db cannot be combined with files or --acct-dir");
    }
    status = query_parse(query);
    if (status == EXIT_SUCCESS && !query->dir && !query->db && query->file_count == 0) {
        query->own = !query->of_nodes && geteuid() != 0 && *config.user_records &&
                     !is_readable(config.acct_dir);
        snprintf(own, sizeof own, "%.*s/%u", PATH_MAX - 16, config.user_records,
                 (unsigned)geteuid());
        query->dir = query->own ? own : config.acct_dir;
    }
    return status;
}

int records_end(struct query *query, int status)
{
    config_clear(query->config);
    query_free(query);
    return status == EXIT_SUCCESS && query->strict && query->left_out > 0 ? EXIT_FAILURE : status;
}
