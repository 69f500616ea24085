/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "cli/regions/regions.h"
#include "record/members.h"
#include "render/regions.h"
#include "sum/members.h"

/* Regions of a job's records: each step's are added up over its nodes. */

static struct region_row regions_job_row(struct regions *regions,
                                         const struct apapi_region_result *region,
                                         const uint32_t *where)
{
    struct region_row row = regions_row(pool_put(&regions->texts, table_region_label(region)));

    row.kind = region->kind;
    memcpy(row.where, where, sizeof row.where);
    row.count = region->count;
    row.ranks = region->programs == APAPI_UNKNOWN ? 0 : region->programs;
    row.threads = region->threads == APAPI_UNKNOWN ? 0 : region->threads;
    row.method = apapi_region_method_name(region->method);
    row.own.time_s = (double)region->time_ns / NS_PER_S;
    row.own.wall_s = row.own.time_s / (row.threads > 0 ? (double)row.threads : 1);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row.own.energy_j[d] = region->domains[d].energy_j;
        row.own.uncertainty_j[d] = region->domains[d].uncertainty_j;
    }
    row.all = row.own;
    return row;
}

static void regions_job_include(struct region_use *use, const struct region_use *inner)
{
    use->time_s += inner->time_s;
    use->wall_s += inner->wall_s;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        use->energy_j[d] += inner->energy_j[d];
        use->uncertainty_j[d] += inner->uncertainty_j[d];
    }
}

/* Add each region to all those around it. @param paths  number = index of the row */
static void regions_job_nest(struct pool *paths, struct region_row *rows, size_t named)
{
    for (size_t i = 0; i < named; i++) {
        char outer[APAPI_REGION_PATH_SIZE];
        char *slash;

        snprintf(outer, sizeof outer, "%s", pool_text(paths, (uint32_t)i));
        while ((slash = strrchr(outer, '/'))) {
            uint32_t number;

            *slash = '\0';
            number = pool_put(paths, outer); /* a new number if it is not there */
            if (number < named) {
                regions_job_include(&rows[number].all, &rows[i].own);
            }
        }
    }
}

static int regions_job_take_foms(struct regions *regions, const struct apapi_regions *list,
                                 uint32_t step)
{
    for (size_t i = 0; i < list->fom_count; i++) {
        if (regions_add_fom(regions, step, &list->foms[i])) {
            return -1;
        }
    }
    return 0;
}

/* Add a list of regions, all with the same `where`. */
static int regions_job_take(struct regions *regions, const struct apapi_regions *list,
                            const uint32_t *where)
{
    struct region_row *rows = calloc(list->count + 1, sizeof *rows);
    struct pool paths = {0};
    size_t named = 0;
    int result = rows ? 0 : -1;

    for (size_t i = 0; i < list->count && result == 0; i++) {
        rows[i] = regions_job_row(regions, &list->list[i], where);
        result = rows[i].path == POOL_NONE ? -1 : 0;
        if (named == i && list->list[i].kind == APAPI_REGION_NAMED) {
            named += pool_put(&paths, list->list[i].path) == i;
        }
    }
    if (result == 0) {
        regions_job_nest(&paths, rows, named);
    }
    for (size_t i = 0; i < list->count && result == 0; i++) {
        result = regions_add(regions, &rows[i]);
    }
    pool_free(&paths);
    free(rows);
    return result;
}

/* Rows of a step's sum, unless nodes have rows of their own. */
static int regions_job_step(const struct show_step *step, const struct apapi_regions *sum,
                            void *target)
{
    struct regions *regions = target;
    uint32_t where[REGIONS_WHERE] = {pool_put(&regions->texts, step->step), POOL_NONE};

    if (where[0] == POOL_NONE || (!regions->split[1] && regions_job_take(regions, sum, where))) {
        return -1;
    }
    return regions_job_take_foms(regions, sum, regions->split[0] ? where[0] : POOL_NONE);
}

static int regions_job_node(struct regions *regions, const struct apapi_record *record)
{
    uint32_t where[REGIONS_WHERE] = {pool_put(&regions->texts, record->id.step),
                                     pool_put(&regions->texts, record->id.node)};

    return where[0] == POOL_NONE || where[1] == POOL_NONE
               ? -1
               : regions_job_take(regions, &record->regions, where);
}

static int regions_read_job(struct regions *regions, const struct show *show, bool detail)
{
    int result = 0;

    regions->where_titles[0] = "step";
    regions->where_titles[1] = "node";
    regions->ranks_title = "programs";
    regions->split[0] = detail || show->step_count > 1;
    regions->split[1] = detail;
    for (size_t i = 0; i < show->count && detail && result == 0; i++) {
        result = regions_job_node(regions, &show->records[i]);
    }
    return result ? -1 : show_each_regions(show, REGION_SUMS_MAX, regions_job_step, regions);
}

/* --- the command -------------------------------------------------------------------------------
 */

/* apapi regions: what the parts of a program used, see apapi-regions(1). */

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
