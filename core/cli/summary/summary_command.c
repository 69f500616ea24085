/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi summary: a job in a few lines, as seff, see apapi-summary(1). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "cli/records/input_options.h"
#include "cli/summary/summary.h"

#define COMMAND "summary"
#define LIMIT_NS (2 * (uint64_t)NS_PER_S)
#define REACH "30d"

struct options {
    struct report_input input;
    struct summary summary;
    struct config config;
    const char *since, *limit, *wait;
    uint64_t limit_ns, wait_ns;
    bool json, alone;
    bool several; /* Slurm knows several jobs of this number */
};

static const struct option_row rows[] = {
    {'M', "clusters", "=CLUSTER", "", TO_TEXT(struct options, input.clusters)},
    {'S', "starttime", "=TIME",
     "compare with jobs that ended then or later; default: " REACH " ago",
     TO_TEXT(struct options, since)},
    {0, "no-compare", NULL, "not with other jobs of the same program",
     TO_FLAG(struct options, alone)},
    {0, "limit", "=DURATION",
     "give up Slurm's accounting, and the comparison, after\nthis time each; default: 2s",
     TO_TEXT(struct options, limit)},
    {0, "wait", "=DURATION", "wait so long for the energy of the job; default: not at all",
     TO_TEXT(struct options, wait)},
    {0, "json", NULL, "for programs", TO_FLAG(struct options, json)},
    {OPTION_ROWS_OF(struct options, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi summary [OPTION]... JOB [FILE]...\n"
            "Show a job in a few lines: energy, mean power, how well it used its CPUs and GPUs,\n"
            "and the medians of other jobs that ran the same program; from the accounting folder,\n"
            "FILEs of records (-: a pipe) or --db, and from Slurm's accounting.\n",
    .foot = "TIME is written as for 'apapi report'.\n"
            "Exit status: 0 done, 1 nothing known of the job, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

static int summary_command_take(const struct apapi_record *record, const char *line, size_t size,
                                void *options)
{
    return show_add(&((struct options *)options)->summary.show, record, line, size);
}

/* Records and Slurm's accounting may be of different clusters. */
static bool is_of_records(const struct show *show, const struct sacct_job *job)
{
    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_identity *id = &show->records[i].id;

        if (id->job == job->job && (!*id->cluster || strcmp(id->cluster, job->cluster) == 0) &&
            (!*id->user || strcmp(id->user, job->user) == 0)) {
            return true;
        }
    }
    return show->count == 0;
}

/* Components of a heterogeneous job run at the same time. */
static void add_component(struct sacct_job *sum, const struct sacct_job *job)
{
    sum->elapsed_s = fmax(sum->elapsed_s, job->elapsed_s);
    sum->nodes += job->nodes;
    sum->cores += job->cores;
    sum->core_s += job->core_s;
    sum->cpu_s += job->cpu_s;
    sum->energy_j += job->energy_j;
    sum->uncertainty_j += job->uncertainty_j;
    sum->mean_w += job->mean_w;
    sum->measured_pct = fmin(sum->measured_pct, job->measured_pct);
}

static int summary_command_take_slurm(const struct sacct_job *job, void *context)
{
    struct summary *summary = context;

    if (!is_of_records(&summary->show, job)) {
        return 0;
    }
    if (!summary->slurm.job) {
        summary->slurm = *job;
    } else if (strchr(job->job_id, '+') && strchr(summary->slurm.job_id, '+')) {
        add_component(&summary->slurm, job);
    } else {
        errno = E2BIG; /* tasks of an array */
        return -1;
    }
    return 0;
}

static void ask_slurm(struct options *options)
{
    const struct sacct_query query = {.jobs = options->input.jobs,
                                      .clusters = options->input.clusters,
                                      .steps = true,
                                      .deadline_ns = clock_monotonic_ns() + options->limit_ns};
    struct apapi_error err;

    options->summary.slurm.job = 0;
    if (sacct_read(&query, summary_command_take_slurm, &options->summary, &err)) {
        options->summary.slurm.job = 0;
        if (errno == E2BIG) {
            options->several = true;
        } else if (errno != ENOENT && options->input.verbose) {
            command_fail(COMMAND, err.text);
        }
    }
}

/* Without FILEs only jobs of these days; what a pipe had is gone. */
static void compare(struct options *options)
{
    struct report_input input = options->input;

    input.jobs = NULL;
    input.quiet = 2;
    input.from_text = options->since;
    if (!options->since && input.file_count == 0) {
        input.from_text = REACH;
    }
    for (size_t i = 0; i < input.file_count; i++) {
        if (strcmp(input.files[i], "-") == 0) {
            return;
        }
    }
    summary_compare(&options->summary, &input, clock_monotonic_ns() + options->limit_ns);
}

/* @return 0; 1: there is no record; the exit status + 2. */
static int read_records(struct options *options)
{
    struct summary *summary = &options->summary;
    struct report_input input = options->input;
    size_t left_out;
    int status;

    input.quiet = 1; /* Slurm's accounting may know the job */
    status = report_input_read(&input, summary_command_take, options, &left_out);
    if (status == USAGE_ERROR) {
        return report_input_read(&options->input, summary_command_take, options, &left_out);
    }
    if (summary->show.count == 0) {
        return 0;
    }
    if (show_choose(&summary->show, COMMAND, summary->job_id, sizeof summary->job_id)) {
        return EXIT_FAILURE;
    }
    return show_work_out(&summary->show) ? command_fail(COMMAND, "no memory") : 0;
}

/* Neither records nor Slurm know anything: say why there are no records. */
static int fail_none(struct options *options)
{
    size_t left_out;
    int status = report_input_read(&options->input, summary_command_take, options, &left_out);

    return status ? status : command_fail(COMMAND, "no record of this job found");
}

/* @return 0; the exit status after a message: then nobody needs to wait. */
static int look(struct options *options)
{
    int status = read_records(options);

    if (status == 0) {
        ask_slurm(options);
        summary_work_out(&options->summary);
    }
    return status;
}

/* Slurm's accounting gets the energy of a job some time after its end: see apapi-sync(8). */
static int look_until_known(struct options *options)
{
    const struct timespec pause = {.tv_sec = 1};
    uint64_t end_ns = clock_monotonic_ns() + options->wait_ns;
    int status = look(options);

    while (status == 0 && !isfinite(options->summary.energy_j) && !options->several &&
           clock_monotonic_ns() < end_ns) {
        nanosleep(&pause, NULL);
        show_free(&options->summary.show);
        options->summary.show.job = (uint32_t)strtoul(options->input.jobs, NULL, 10);
        status = look(options);
    }
    return status;
}

static int summary_command_run(struct options *options)
{
    struct summary *summary = &options->summary;
    int status = report_input_complete(&options->input, &options->config);

    if (status == 0) {
        status = look_until_known(options);
    }
    if (status) {
        return status;
    }
    if (summary->show.count == 0 && options->several) {
        return command_fail(COMMAND, "several jobs match: name one, as 17_3 of an array");
    }
    if (summary->show.count == 0 && !isfinite(summary->energy_j)) {
        return fail_none(options);
    }
    if (!options->alone && summary->show.count > 0) {
        compare(options);
    }
    if (options->json) {
        return summary_print_json(summary) ? command_fail(COMMAND, "no memory")
                                           : command_finish(COMMAND, EXIT_SUCCESS);
    }
    summary_print_text(summary);
    return command_finish(COMMAND, EXIT_SUCCESS);
}

static int summary_command_check(struct options *options, char **words, size_t count)
{
    struct job_list jobs;
    struct apapi_error err;

    if (count == 0) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help summary'");
    }
    if ((options->limit && apapi_duration_parse(options->limit, &options->limit_ns, &err)) ||
        (options->wait && apapi_duration_parse(options->wait, &options->wait_ns, &err))) {
        return command_refuse(COMMAND, err.text);
    }
    if (strpbrk(words[0], ",._*") && !strchr(words[0], '_')) {
        return command_refuse(COMMAND, "JOB is one job, as 17, 17_3 of an array or 17+1");
    }
    if (job_list_parse(words[0], &jobs, &err)) {
        job_list_free(&jobs);
        return command_refuse(COMMAND, err.text);
    }
    job_list_free(&jobs);
    options->input.jobs = words[0];
    options->input.files = words + 1;
    options->input.file_count = count - 1;
    return 0;
}

int summary_command(int argc, char **argv)
{
    static struct options options = {.input = {.command = COMMAND}, .limit_ns = LIMIT_NS};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    status = summary_command_check(&options, argv + optind, (size_t)(argc - optind));
    if (status) {
        return status;
    }
    options.summary.show.job = (uint32_t)strtoul(options.input.jobs, NULL, 10);
    config_defaults(&options.config);
    config_read(&options.config, config_path(), NULL);
    status = summary_command_run(&options);
    show_free(&options.summary.show);
    config_clear(&options.config);
    return status;
}
