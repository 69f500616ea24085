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

#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/progress.h"
#include "cli/when.h"
#include "config/values.h"
#include "index/index.h"

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

/* --- a user's own records, if he may not read those of all ---------------------------------- */

static bool is_readable(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static int own_fail_none(const struct report_input *input)
{
    const struct passwd *caller = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;
    struct apapi_error err;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", caller ? caller->pw_name : "");
    if (user_list_has(input->users, &id)) {
        return command_fail(input->command, "none of your own records matches; only root reads the "
                                            "records of other users");
    }
    apapi_fail(&err, EACCES,
               "--user=%.60s: only root reads the records of other users; without it, yours are "
               "shown",
               input->users);
    return command_fail(input->command, err.text);
}

/* --- reading -------------------------------------------------------------------------------- */

struct reading {
    struct report_input *input;
    const char *folder; /* named as a file, that is read; NULL */
    struct job_list jobs;
    struct apapi_scan_filter filter; /* lines that the reader may skip before decoding */
    size_t taken, skipped;           /* skipped: of a database */
    struct progress progress;
    uint64_t left; /* bytes of the present file that were not yet added to it */
    apapi_scan_f take;
    void *context;
};

bool input_list_has(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

static int sift(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct reading *reading = context;
    const struct report_input *input = reading->input;

    progress_add(&reading->progress, &reading->left, size + 1, 1);
    if (!job_list_has(&reading->jobs, &record->id) || !user_list_has(input->users, &record->id) ||
        !input_list_has(input->accounts, record->id.account) ||
        !input_list_has(input->partitions, record->id.partition) ||
        !input_list_has(input->clusters, record->id.cluster) ||
        !input_list_has(input->job_names, record->id.job_name)) {
        return 0;
    }
    reading->taken++;
    return reading->take(record, line, size, reading->context);
}

static void input_print_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct reading *reading = context;

    reading->skipped++;
    if (reading->input->verbose) {
        progress_erase(&reading->progress);
        command_note_skipped(reading->input->command, problem);
    }
}

static bool input_begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    (void)offset;
    ((struct reading *)context)->left = file->size;
    return true;
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
    const struct report_input *input = reading->input;

    if (input->file_count == 0) {
        return apapi_scan_folder(scan, input->dir, err);
    }
    for (size_t i = 0; i < input->file_count; i++) {
        const char *file = input->files[i];

        reading->left = reading->progress.shown ? progress_size(NULL, file) : 0;
        if (scan_named(scan, reading, file, err)) {
            return -1;
        }
        progress_add(&reading->progress, &reading->left, reading->left, 0);
    }
    return 0;
}

/* Report what was not read, one line each. */
static void input_conclude(struct report_input *input, const struct apapi_scan_counts *counts)
{
    const char *hint = input->verbose ? "" : " (-v shows them)";

    if (counts->skipped > 0) {
        fprintf(stderr, "apapi %s: %zu line%s skipped%s\n", input->command, counts->skipped,
                text_plural(counts->skipped), hint);
    }
    if (counts->unreadable > 0) {
        fprintf(stderr, "apapi %s: %zu file%s or folders cannot be read%s\n", input->command,
                counts->unreadable, text_plural(counts->unreadable), hint);
    }
    input->left_out += counts->skipped + counts->unreadable;
}

static int input_read_files(struct reading *reading, const struct apapi_scan_sink *sink,
                            struct apapi_error *err)
{
    struct apapi_scan *scan = apapi_scan_create(&reading->filter, sink, err);
    int result = scan ? scan_files(scan, reading, err) : -1;
    int code = scan && errno == EINVAL ? EIO : errno; /* an error of a file, not of the options */

    progress_erase(&reading->progress);
    if (result == 0 && (!reading->input->quiet || reading->taken)) {
        input_conclude(reading->input, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
    errno = code;
    return result;
}

static const char *single(const char *list)
{
    return list && !strchr(list, ',') ? list : NULL;
}

static int input_make_filter(struct reading *reading, struct apapi_error *err)
{
    const struct report_input *input = reading->input;
    int64_t now_ns = clock_unix_ns(), from_ns = 0, to_ns = 0;

    if (job_list_parse(input->jobs, &reading->jobs, err) ||
        (input->from_text && when_parse(input->from_text, now_ns, &from_ns, err)) ||
        (input->to_text && when_parse(input->to_text, now_ns, &to_ns, err))) {
        return -1;
    }
    if (input->from_text && input->to_text && from_ns >= to_ns) {
        return apapi_fail(err, EINVAL, "-S is not before -E");
    }
    reading->filter = (struct apapi_scan_filter){.from_unix_ns = from_ns,
                                                 .to_unix_ns = to_ns,
                                                 .jobs = reading->jobs.jobs,
                                                 .job_count = reading->jobs.count,
                                                 .job_parts = true,
                                                 .cluster = single(input->clusters),
                                                 .user = single(input->users),
                                                 .account = single(input->accounts),
                                                 .partition = single(input->partitions),
                                                 .nodes = input->nodes};
    return 0;
}

static int input_read_all(struct reading *reading, struct apapi_error *err)
{
    struct report_input *input = reading->input;
    const struct apapi_scan_sink sink = {.record = sift,
                                         .problem = input_print_problem,
                                         .begin = input_begin_file,
                                         .end = input_end_file,
                                         .context = reading};
    int result;

    if (input_make_filter(reading, err)) {
        return -1;
    }
    reading->progress = progress_begin(
        &(struct progress_input){&reading->filter, input->dir, input->files, input->file_count});
    if (!input->db) {
        return input_read_files(reading, &sink, err);
    }
    result = db_read_records(input->db,
                             &(struct db_wanted){&reading->filter, input->clusters, input->users,
                                                 input->accounts, input->partitions},
                             &sink, err);
    progress_erase(&reading->progress);
    if (result == 0 && !input->quiet) {
        input_conclude(input, &(struct apapi_scan_counts){.skipped = reading->skipped});
    }
    return result;
}

int report_input_fail(const struct report_input *input, int code, const struct apapi_error *err)
{
    if (code == EACCES && !input->db && input->file_count == 0) {
        return command_fail_folder(input->command, input->dir);
    }
    return code == EINVAL ? command_refuse(input->command, err->text)
                          : command_fail(input->command, *err->text ? err->text : strerror(code));
}

int report_input_read(struct report_input *input, apapi_scan_f take, void *context)
{
    struct reading reading = {.input = input, .take = take, .context = context};
    struct apapi_error err;
    int result = input_read_all(&reading, &err), code = errno;

    job_list_free(&reading.jobs);
    if (input->quiet) {
        return result == 0 && reading.taken ? EXIT_SUCCESS
               : result && code == EINVAL   ? USAGE_ERROR
                                            : EXIT_FAILURE;
    }
    if (input->own && ((result == 0 && reading.taken == 0) || (result && code == ENOENT))) {
        return own_fail_none(input);
    }
    if (result && code == EACCES && reading.folder) {
        return command_fail_folder(input->command, reading.folder);
    }
    return result ? report_input_fail(input, code, &err) : EXIT_SUCCESS;
}

/* --- all that a command does --------------------------------------------------------------------
 */

void report_input_words(struct report_input *input, char **words, size_t count, bool job)
{
    if (!input->jobs && count > 0 && job) {
        input->jobs = *words++;
        count--;
    }
    input->files = words;
    input->file_count = count;
}

int report_input_run(struct report_input *input, int (*run)(void *context), void *context)
{
    static struct config config;
    static char own[PATH_MAX];
    int status;

    config_defaults(&config);
    config_read(&config, config_path(), NULL); /* `apapi config --check` reports what is wrong */
    input->config = &config;
    if (input->db && (input->dir || input->file_count > 0)) {
        status = command_refuse(input->command, "--db cannot be combined with files or --acct-dir");
    } else {
        if (!input->dir && !input->db && input->file_count == 0) {
            input->own = !input->of_nodes && geteuid() != 0 && *config.user_records &&
                         !is_readable(config.acct_dir);
            snprintf(own, sizeof own, "%.*s/%u", PATH_MAX - 16, config.user_records,
                     (unsigned)geteuid());
            input->dir = input->own ? own : config.acct_dir;
        }
        status = run(context);
    }
    config_clear(&config);
    return status == EXIT_SUCCESS && input->strict && input->left_out > 0 ? EXIT_FAILURE : status;
}

struct printing {
    struct report_input *input;
    apapi_scan_f take;
    int (*print)(void *context);
    void *context;
};

static int input_print(void *context)
{
    const struct printing *printing = context;
    int status = report_input_read(printing->input, printing->take, printing->context);

    return status ? status : printing->print(printing->context);
}

int report_input_print(struct report_input *input, apapi_scan_f take, int (*print)(void *context),
                       void *context)
{
    return report_input_run(input, input_print, &(struct printing){input, take, print, context});
}
