/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi-sync: `apapi sync` executes it if it was built with Slurm's library. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apapi/record.h"
#include "base/clock.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/when.h"
#include "config/config.h"
#include "sync/sync.h"

#define JOBS_MAX 10000

struct words {
    struct sync_options options;
    const char *since, *jobs, *dir, *field;
};

static const struct option_row rows[] = {
    {'M', "clusters", "=C", "only records of this cluster; default: all",
     TO_TEXT(struct words, options.cluster)},
    {'S', "starttime", "=T",
     "jobs with a record that ended at T or later; default: with a record\n"
     "that is new since the last run; in a first run 24h",
     TO_TEXT(struct words, since)},
    {0, "since", "=T", NULL, TO_TEXT(struct words, since)}, /* old name */
    {'j', "jobs", "=JOB,...", "only these jobs, whatever their age", TO_TEXT(struct words, jobs)},
    {0, "acct-dir", " DIR", "folder of the accounting files; default: acct_dir of apapi.conf",
     TO_TEXT(struct words, dir)},
    {0, "field", " FIELD", "admincomment (default), comment, or extra (Slurm 23.02 or later)",
     TO_TEXT(struct words, field)},
    {0, "dry-run", NULL, "show what would be changed, and change nothing",
     TO_FLAG(struct words, options.dry_run)},
    {'n', "dry-run", NULL, NULL, TO_FLAG(struct words, options.dry_run)}, /* old name */
    {'v', "verbose", NULL, "show what is done, and which lines are not records",
     TO_FLAG(struct words, options.verbose)},
    {0}};

static const struct option_table table = {
    .program = "apapi sync",
    .head = "usage: apapi sync [OPTION]...\n"
            "Write the energy of jobs, from the accounting files, into Slurm's accounting: a\n"
            "short JSON object in each job's AdminComment; other text there is kept. For root,\n"
            "from a timer or EpilogSlurmctld.\n",
    .foot = "T is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, also if jobs wait for the next run; 1 failure; 2 wrong usage.\n",
    .column = 22,
    .rows = rows};

static int main_refuse(const char *text)
{
    return command_refuse("sync", text);
}

/* "17,18,19" */
static int main_read_jobs(const char *text, uint32_t *jobs, size_t *count)
{
    for (*count = 0;; text++) {
        char *end;
        unsigned long job;

        errno = 0;
        job = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
        if (job == 0 || errno || job >= APAPI_UNKNOWN || *count == JOBS_MAX) {
            return -1;
        }
        jobs[(*count)++] = (uint32_t)job;
        text = end;
        if (*text != ',') {
            return *text ? -1 : 0;
        }
    }
}

static int main_complete(struct sync_options *options, const struct words *words, uint32_t *jobs)
{
    struct apapi_error err;

    if (words->since && when_parse(words->since, options->now_ns, &options->since_ns, &err)) {
        return main_refuse(err.text);
    }
    if (words->jobs && main_read_jobs(words->jobs, jobs, &options->job_count)) {
        return main_refuse("--jobs takes job numbers with commas between, as 4711,4712");
    }
    if (words->field && dbd_field_find(words->field, &options->field)) {
        return main_refuse(errno == ENOTSUP ? "--field extra needs Slurm 23.02 or later"
                                            : "--field takes admincomment, comment or extra");
    }
    if (options->cluster && folder_check_name(options->cluster)) {
        return main_refuse("--clusters takes the name of a cluster");
    }
    options->jobs = jobs;
    return 0;
}

static int main_fail(const struct apapi_error *err, int code)
{
    command_fail("sync", err->text);
    if (code == EACCES && geteuid() != 0) {
        command_fail("sync", "the accounting files are root's: run it as root");
    }
    return EXIT_FAILURE;
}

static void print_outcome(const struct sync_options *options, const struct sync_outcome *outcome)
{
    if (outcome->unknown > 0) {
        fprintf(stderr, "apapi sync: slurmdbd does not know %zu job%s%s: %s\n", outcome->unknown,
                outcome->unknown == 1 ? "" : "s",
                options->job_count || options->since_ns ? "" : ", tried again by the next run",
                outcome->unknown_jobs);
    }
    if (options->verbose) {
        printf("%zu jobs, %zu changed, %zu not ended, %zu unknown to slurmdbd\n", outcome->jobs,
               outcome->changed, outcome->running, outcome->unknown);
    }
}

static int main_run(struct sync_options *options, const struct words *words)
{
    static uint32_t jobs[JOBS_MAX];
    struct sync_outcome outcome = {0};
    struct apapi_error err;
    struct config config;
    int status;

    if (main_complete(options, words, jobs)) {
        return USAGE_ERROR;
    }
    config_defaults(&config);
    config_read(&config, config_path(), &(struct config_sink){0});
    options->dir = words->dir ? words->dir : config.acct_dir;
    status = sync_run(options, &outcome, &err) ? main_fail(&err, errno) : EXIT_SUCCESS;
    if (status == EXIT_SUCCESS) {
        print_outcome(options, &outcome);
    }
    config_clear(&config);
    return command_finish("sync", status);
}

int main(int argc, char **argv)
{
    static char name[] = "sync";
    struct words words = {.options = {.field = DBD_ADMINCOMMENT, .now_ns = clock_unix_ns()}};
    int status;

    argv[0] = name;
    status = command_options(&table, argc, argv, &words);
    if (status >= 0) {
        return status;
    }
    return optind < argc ? main_refuse("takes no arguments but options")
                         : main_run(&words.options, &words);
}
