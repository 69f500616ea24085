/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/records/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/progress.h"
#include "cli/when.h"
#include "config/config.h"
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

static bool own_is_needed(const struct config *config)
{
    return geteuid() != 0 && *config->user_records && !is_readable(config->acct_dir);
}

bool own_is_all(const struct report_input *input, const struct config *config)
{
    return input->own || (geteuid() != 0 && input->file_count == 0 &&
                          input->dir == config->acct_dir && !is_readable(config->acct_dir));
}

static const char *own_folder(const struct config *config)
{
    static char folder[PATH_MAX];

    snprintf(folder, sizeof folder, "%.*s/%u", PATH_MAX - 16, config->user_records,
             (unsigned)geteuid());
    return folder;
}

/* Does the list of users have the caller? */
static bool is_asked_for(const char *users)
{
    const struct passwd *user = getpwuid(geteuid()); // NOLINT(concurrency-mt-unsafe)
    struct apapi_identity id = APAPI_IDENTITY_UNKNOWN;

    id.uid = geteuid();
    snprintf(id.user, sizeof id.user, "%s", user ? user->pw_name : "");
    return user_list_has(users, &id);
}

static int own_fail_none(const struct report_input *input)
{
    struct apapi_error err;

    if (is_asked_for(input->users)) {
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
    const struct report_input *input;
    struct job_list jobs;
    int64_t from_ns, to_ns; /* 0: no limit */
    size_t taken, skipped;  /* skipped: of a database */
    struct progress progress;
    uint64_t left; /* bytes of the present file that were not yet added to it */
    apapi_scan_f take;
    void *context;
};

static bool is_in(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

static int sift(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct reading *reading = context;
    const struct report_input *input = reading->input;

    progress_add(&reading->progress, &reading->left, size + 1, 1);
    if (!job_list_has(&reading->jobs, &record->id) || !user_list_has(input->users, &record->id) ||
        !is_in(input->accounts, record->id.account) ||
        !is_in(input->partitions, record->id.partition) ||
        !is_in(input->clusters, record->id.cluster) ||
        !is_in(input->job_names, record->id.job_name)) {
        return 0;
    }
    reading->taken++;
    return reading->take(record, line, size, reading->context);
}

static void input_print_problem(const struct apapi_scan_problem *problem, void *context)
{
    struct reading *reading = context;

    reading->skipped++;
    if (!reading->input->verbose || reading->input->quiet > 1) {
        return;
    }
    progress_erase(&reading->progress);
    fprintf(stderr, "apapi %s: %s:", reading->input->command, problem->file);
    if (problem->line > 0) {
        fprintf(stderr, "%zu:", problem->line);
    }
    fprintf(stderr, " %s\n", problem->reason);
}

/* Lines that the reader may skip before decoding. */
static const char *single(const char *list)
{
    return list && !strchr(list, ',') ? list : NULL;
}

static struct apapi_scan_filter make_filter(const struct reading *reading)
{
    const struct report_input *input = reading->input;

    return (struct apapi_scan_filter){.from_unix_ns = reading->from_ns,
                                      .to_unix_ns = reading->to_ns,
                                      .jobs = reading->jobs.jobs,
                                      .job_count = reading->jobs.count,
                                      .job_parts = true,
                                      .cluster = single(input->clusters),
                                      .user = single(input->users),
                                      .account = single(input->accounts),
                                      .partition = single(input->partitions),
                                      .nodes = input->nodes};
}

static bool input_begin_file(const struct apapi_scan_file *file, uint64_t *offset, void *context)
{
    struct reading *reading = context;

    (void)offset;
    reading->left = file->size;
    return true;
}

static void input_end_file(const struct apapi_scan_file *file, uint64_t offset, void *context)
{
    struct reading *reading = context;

    (void)file;
    (void)offset;
    progress_add(&reading->progress, &reading->left, reading->left, 0);
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
        if (strcmp(file, "-") == 0 ? apapi_scan_stream(scan, STDIN_FILENO, "standard input", err)
                                   : apapi_scan_file(scan, file, err)) {
            return -1;
        }
        progress_add(&reading->progress, &reading->left, reading->left, 0);
    }
    return 0;
}

/* Report what was not read, one line each. */
static size_t input_conclude(const struct report_input *input,
                             const struct apapi_scan_counts *counts)
{
    const char *hint = input->verbose ? "" : " (-v shows them)";

    if (counts->skipped > 0) {
        fprintf(stderr, "apapi %s: %zu line%s skipped%s\n", input->command, counts->skipped,
                counts->skipped == 1 ? "" : "s", hint);
    }
    if (counts->unreadable > 0) {
        fprintf(stderr, "apapi %s: %zu file%s or folders cannot be read%s\n", input->command,
                counts->unreadable, counts->unreadable == 1 ? "" : "s", hint);
    }
    return counts->skipped + counts->unreadable;
}

static int input_read_files(struct reading *reading, const struct apapi_scan_filter *filter,
                            const struct apapi_scan_sink *sink, size_t *left_out,
                            struct apapi_error *err)
{
    struct apapi_scan *scan = apapi_scan_create(filter, sink, err);
    int result = scan ? scan_files(scan, reading, err) : -1;
    int code = scan && errno == EINVAL ? EIO : errno; /* an error of a file, not of the options */

    progress_erase(&reading->progress);
    if (result == 0 && (!reading->input->quiet || (reading->taken && reading->input->quiet == 1))) {
        *left_out = input_conclude(reading->input, apapi_scan_counts(scan));
    }
    apapi_scan_destroy(scan);
    errno = code;
    return result;
}

static int input_read_times(struct reading *reading, struct apapi_error *err)
{
    const struct report_input *input = reading->input;
    int64_t now_ns = clock_unix_ns();

    if ((input->from_text && when_parse(input->from_text, now_ns, &reading->from_ns, err)) ||
        (input->to_text && when_parse(input->to_text, now_ns, &reading->to_ns, err))) {
        return -1;
    }
    if (input->from_text && input->to_text && reading->from_ns >= reading->to_ns) {
        return apapi_fail(err, EINVAL, "-S is not before -E");
    }
    return 0;
}

static int input_read_all(struct reading *reading, size_t *left_out, struct apapi_error *err)
{
    const struct report_input *input = reading->input;
    const struct apapi_scan_sink sink = {.record = sift,
                                         .problem = input_print_problem,
                                         .begin = input_begin_file,
                                         .end = input_end_file,
                                         .context = reading};
    struct apapi_scan_filter filter;
    int result;

    if (job_list_parse(input->jobs, &reading->jobs, err) || input_read_times(reading, err)) {
        return -1;
    }
    filter = make_filter(reading);
    *left_out = 0;
    reading->progress = progress_begin(
        &(struct progress_input){&filter, input->dir, input->files, input->file_count});
    reading->progress.shown &= input->quiet < 2;
    if (!input->db) {
        return input_read_files(reading, &filter, &sink, left_out, err);
    }
    result = db_read_records(input->db,
                             &(struct db_wanted){&filter, input->clusters, input->users,
                                                 input->accounts, input->partitions},
                             &sink, err);
    progress_erase(&reading->progress);
    if (result == 0 && !input->quiet) {
        *left_out = input_conclude(input, &(struct apapi_scan_counts){.skipped = reading->skipped});
    }
    return result;
}

int report_input_complete(struct report_input *input, const struct config *config)
{
    if (input->db && (input->dir || input->file_count > 0)) {
        return command_refuse(input->command, "--db cannot be combined with files or --acct-dir");
    }
    if (input->dir || input->db || input->file_count > 0) {
        return 0;
    }
    input->dir = config->acct_dir;
    if (own_is_needed(config)) {
        input->own = true;
        input->dir = own_folder(config);
    }
    return 0;
}

int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out)
{
    struct reading reading = {.input = input, .take = take, .context = context};
    struct apapi_error err;
    int result = input_read_all(&reading, left_out, &err), code = errno;

    job_list_free(&reading.jobs);
    if (input->quiet) {
        return result == 0 && reading.taken ? EXIT_SUCCESS
               : result && code == EINVAL   ? USAGE_ERROR
                                            : EXIT_FAILURE;
    }
    if (input->own && ((result == 0 && reading.taken == 0) || (result && code == ENOENT))) {
        return own_fail_none(input);
    }
    if (result == 0) {
        return EXIT_SUCCESS;
    }
    if (code == EACCES && !input->db && input->file_count == 0) {
        return command_fail_folder(input->command, input->dir);
    }
    return code == EINVAL ? command_refuse(input->command, err.text)
                          : command_fail(input->command, *err.text ? err.text : strerror(code));
}

int report_input_print(struct report_input *input, apapi_scan_f take, int (*print)(void *context),
                       void *context)
{
    struct config config;
    size_t left_out = 0;
    int status;

    config_defaults(&config);
    config_read(&config, config_path(), NULL);
    status = report_input_complete(input, &config);
    if (status == EXIT_SUCCESS) {
        status = report_input_read(input, take, context, &left_out);
    }
    if (status == EXIT_SUCCESS) {
        status = print(context);
    }
    config_clear(&config);
    return status == EXIT_SUCCESS && input->strict && left_out > 0 ? EXIT_FAILURE : status;
}
