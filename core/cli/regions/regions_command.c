/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions: what the parts of a program used, see apapi-regions(1). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "cli/regions/regions.h"
#include "cli/regions/regions_job.h"
#include "record/members.h"

#define COMMAND "regions"

struct options {
    enum { FORM_TABLE, FORM_JSON, FORM_CSV } form;
    bool detail;
    struct report_input input;
    struct regions regions;
    struct show show;
    size_t records; /* of the job, with or without regions */
};

static int regions_command_set_type(void *target, const char *text, struct apapi_error *err)
{
    struct options *options = target;

    options->detail = strcmp(text, "detail") == 0;
    return options->detail || strcmp(text, "summary") == 0
               ? 0
               : apapi_fail(err, EINVAL, "--type takes summary or detail");
}

static int regions_command_set_form(void *target, const char *text, struct apapi_error *err)
{
    static const char *const forms[] = {"table", "json", "csv"};
    struct options *options = target;

    for (int i = FORM_TABLE; i <= FORM_CSV; i++) {
        if (strcmp(text, forms[i]) == 0) {
            options->form = i;
            return 0;
        }
    }
    return apapi_fail(err, EINVAL, "--format takes table, json or csv");
}

static const struct option_row rows[] = {
    {0, "type", "=TYPE",
     "summary (default), or detail: a row for each node, or each thread of a\n"
     "rank",
     TO_CALL(regions_command_set_type)},
    {'f', "format", "=FORM", "table (default), json or csv", TO_CALL(regions_command_set_form)},
    {0, "inclusive", NULL, "regions with those inside them",
     TO_FLAG(struct options, regions.inclusive)},
    {'j', "jobs", "=JOB[.STEP]", "the job; then all arguments are FILEs",
     TO_TEXT(struct options, input.jobs)},
    {OPTION_ROWS_OF(struct options, input, input_filter_rows)},
    {OPTION_ROWS_OF(struct options, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi regions [OPTION]... JOB[.STEP] [FILE]...\n"
            "       apapi regions [OPTION]... DIR\n"
            "Show what the regions of a program used: time, energy, power and what follows from\n"
            "them, added up over threads, ranks and nodes; from a job's records in the accounting\n"
            "folder or in FILEs (-: a pipe), or from a folder of files rank_NNNNNN.json as PAPI's\n"
            "high-level API writes them. A folder whose name is a number: ./17.\n",
    .foot = "Exit status: 0 done, 1 nothing found, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

static void regions_command_warn(const char *text)
{
    command_fail(COMMAND, text);
}

static int regions_command_print(struct options *options)
{
    const struct regions *regions = &options->regions;
    int failed;

    regions_finish(&options->regions);
    failed = options->form == FORM_JSON ? regions_print_json(regions)
                                        : regions_print_table(regions, options->form == FORM_CSV);
    return failed ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

static int regions_command_folder(struct options *options, const char *path)
{
    struct regions *regions = &options->regions;
    struct apapi_error err;
    size_t skipped;
    int status;

    regions->split[0] = regions->split[1] = options->detail;
    regions->where_titles[0] = "rank";
    regions->where_titles[1] = "thread";
    regions->ranks_title = "ranks";
    if (regions_read_folder(regions, path, regions_command_warn, &skipped, &err) < 0) {
        return command_fail(COMMAND, err.text);
    }
    if (regions->row_count == 0) {
        return command_fail(COMMAND, "no region found");
    }
    status = regions_command_print(options);
    command_count_skipped(COMMAND, skipped, true);
    return skipped > 0 ? EXIT_FAILURE : status;
}

static int regions_command_take(const struct apapi_record *record, const char *line, size_t size,
                                void *target)
{
    struct options *options = target;

    options->records++;
    return regions_exist(&record->regions) ? show_add(&options->show, record, line, size) : 0;
}

static int regions_command_print_job(void *target)
{
    struct options *options = target;
    char job_id[32];
    int status;

    if (options->records > 0 && options->show.count == 0) {
        return command_fail(COMMAND, "no region in the records of this job");
    }
    status = show_choose(&options->show, COMMAND, job_id, sizeof job_id);
    if (status) {
        return status;
    }
    return show_work_out(&options->show) ||
                   regions_read_job(&options->regions, &options->show, options->detail)
               ? command_fail(COMMAND, "no memory")
               : regions_command_print(options);
}

static int regions_command_job(struct options *options)
{
    int status;

    options->show.job = (uint32_t)strtoul(options->input.jobs, NULL, 10);
    status = report_input_print(&options->input, regions_command_take, regions_command_print_job,
                                options);
    show_free(&options->show);
    return status;
}

static bool regions_command_is_job(const char *text)
{
    struct job_list list;
    bool is_job = *text && job_list_parse(text, &list, NULL) == 0;

    if (*text) {
        job_list_free(&list);
    }
    return is_job;
}

static int regions_command_words(struct options *options, char **words, size_t count)
{
    struct report_input *input = &options->input;

    if (!input->jobs && count > 0 && regions_command_is_job(words[0])) {
        input->jobs = *words++;
        count--;
    }
    input->files = words;
    input->file_count = count;
    if (input->jobs) {
        return regions_command_job(options);
    }
    return count == 1 ? regions_command_folder(options, words[0])
                      : command_refuse(COMMAND, "which JOB or DIR? See 'apapi help regions'");
}

int regions_command(int argc, char **argv)
{
    static struct options options = {.input = {.command = COMMAND}};
    int status = command_options(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    status = regions_command_words(&options, argv + optind, (size_t)(argc - optind));
    regions_free(&options.regions);
    return status;
}
