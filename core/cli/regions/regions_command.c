/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions: what the parts of a program used, see apapi-regions(1). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/jobs.h"
#include "cli/records/input.h"
#include "cli/regions/regions.h"
#include "record/members.h"
#include "render/regions.h"
#include "render/table.h"
#include "sum/members.h"

/* --- columns ---------------------------------------------------------------------------------- */

#define PATH_LEAST 16
#define COLUMNS_MAX (FIXED + APAPI_DOMAINS + REGIONS_EVENTS_MAX)

/* Columns before those of domains and events. A key is that of CSV and JSON. */
enum { REGION = REGIONS_WHERE, FIXED = 19 };

static size_t regions_columns(const struct regions *regions, struct table_column *columns,
                              char names[APAPI_DOMAINS][32])
{
    const char *const *where = regions->where_titles;
    const struct table_column fixed[FIXED] = {
        {.title = where[0], .key = where[0]},
        {.title = where[1], .key = where[1]},
        {.title = "region", .key = "region", .least = PATH_LEAST},
        {.title = "count", .key = "count", .form = TABLE_COUNT},
        {.title = regions->ranks_title, .key = regions->ranks_title, .form = TABLE_COUNT},
        {.title = "threads", .key = "threads", .form = TABLE_COUNT},
        {.key = "method"},
        {.title = "time", .key = "time_s", .form = TABLE_SHORT},
        {.key = "wall_s", .form = TABLE_SHORT},
        {.title = "energy", .key = "energy_j", .form = TABLE_ENERGY},
        {.key = "uncertainty_j", .form = TABLE_QUANTITY, .unit = "J"},
        {.title = "share", .form = TABLE_PERCENT, .decimals = 1},
        {.key = "share", .form = TABLE_NUMBER},
        {.title = "mean", .key = "mean_w", .form = TABLE_KNOWN, .unit = "W"},
        {.key = "edp_js", .form = TABLE_NUMBER},
        {.title = "IPC", .key = "ipc", .form = TABLE_NUMBER, .decimals = 2},
        {.title = "MFLOP/s", .key = "mflop_per_s", .form = TABLE_NUMBER, .decimals = 1},
        {.title = "MFLOP/J", .key = "mflop_per_j", .form = TABLE_NUMBER, .decimals = 2},
        {.title = "method"}};
    size_t count = FIXED;

    memcpy(columns, fixed, sizeof fixed);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        snprintf(names[d], sizeof names[d], "%s_j", apapi_domain_name(d));
        columns[count++] = (struct table_column){.key = names[d], .form = TABLE_NUMBER};
    }
    for (size_t i = 0; i < regions->events.count; i++) {
        columns[count++] =
            (struct table_column){.key = regions_event_name(regions, i), .form = TABLE_NUMBER};
    }
    return count;
}

static const char *regions_where(const struct regions *regions, const struct region_row *row,
                                 size_t i)
{
    return row->where[i] == POOL_NONE ? "" : pool_text(&regions->texts, row->where[i]);
}

static void regions_cells(const struct regions *regions, const struct region_row *row,
                          struct table_cell cells[COLUMNS_MAX])
{
    const struct region_use *use = regions_use(regions, row);
    const struct region_figures figures = regions_figures(regions, row);
    const char *method = row->method ? row->method : "";
    bool ranks = !regions->split[1] && row->ranks > 0;
    bool threads = row->threads > 0 && (!regions->split[1] || row->threads != 1);
    double power_uncertainty_w = figures.power_w * figures.uncertainty_j / figures.energy_j;
    const struct table_cell fixed[FIXED] = {
        CELL_TEXT(regions_where(regions, row, 0)),
        CELL_TEXT(regions_where(regions, row, 1)),
        CELL_TEXT(pool_text(&regions->texts, row->path)),
        CELL_OR_BLANK(row->count > 0 ? (double)row->count : (double)NAN),
        {.value = (double)row->ranks, .text = ranks ? NULL : ""},
        {.value = (double)row->threads, .text = threads ? NULL : ""},
        CELL_TEXT(method),
        CELL(use->time_s),
        CELL(use->wall_s),
        {figures.energy_j, isnan(figures.energy_j) ? "" : NULL, figures.uncertainty_j},
        CELL(figures.uncertainty_j),
        CELL_OR_BLANK(100 * figures.share),
        CELL(figures.share),
        {figures.power_w, isnan(figures.power_w) ? "" : NULL, power_uncertainty_w},
        CELL(figures.edp_js),
        CELL_OR_BLANK(figures.ipc),
        CELL_OR_BLANK(figures.mflops),
        CELL_OR_BLANK(figures.mflop_per_j),
        CELL_TEXT(method)};
    struct table_cell *next = cells + FIXED;

    memcpy(cells, fixed, sizeof fixed);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        *next++ = (struct table_cell)CELL(use->energy_j[d]);
    }
    for (size_t i = 0; i < regions->events.count; i++) {
        *next++ = (struct table_cell)CELL(regions_event_value(regions, row, i));
    }
}

/* --- a table, and CSV ------------------------------------------------------------------------- */

static void regions_put_fom(const struct regions *regions, const struct region_fom *fom)
{
    char text[TABLE_FOM_SIZE], line[2 * TABLE_FOM_SIZE];

    table_fom_text(text, sizeof text, &fom->fom, regions_total_j(regions, fom->where));
    if (fom->where == POOL_NONE) {
        text_wrap(stdout, text);
        return;
    }
    snprintf(line, sizeof line, "%s %s: %s", regions->where_titles[0],
             pool_text(&regions->texts, fom->where), text);
    text_wrap(stdout, line);
}

static void regions_put_notes(const struct regions *regions)
{
    for (size_t i = 0; i < regions->fom_count; i++) {
        regions_put_fom(regions, &regions->foms[i]);
    }
    if (regions->shared) {
        text_wrap(stdout, "PAPI's energy is that of the whole node for each thread: of all threads "
                          "the one that saw the most counts");
    }
    if (regions->dropped > 0) {
        printf("  %zu more have no room here\n", regions->dropped);
    }
}

/* 0; -1 with errno ENOMEM. */
static int regions_print_table(const struct regions *regions, bool csv)
{
    struct table_column columns[COLUMNS_MAX];
    struct table_cell cells[COLUMNS_MAX];
    char names[APAPI_DOMAINS][32];
    size_t count = regions_columns(regions, columns, names);
    struct table table = table_begin(columns, count, csv, true, stdout);
    int result;

    for (size_t i = 0; i < regions->row_count; i++) {
        regions_cells(regions, &regions->rows[i], cells);
        table_put(&table, cells);
    }
    result = table_end(&table, NULL);
    if (result == 0 && !csv) {
        regions_put_notes(regions);
    }
    return result;
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void regions_json_domains(struct json_writer *json, const struct region_use *use)
{
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (!isnan(use->energy_j[d])) {
            json_begin_object(json, apapi_domain_name(d));
            json_put_number(json, "energy_j", use->energy_j[d], JSON_MEASURED);
            json_put_number(json, "uncertainty_j", use->uncertainty_j[d], JSON_ROUGH);
            json_end(json);
        }
    }
    json_end(json);
}

static void regions_json_row(struct json_writer *json, const struct regions *regions,
                             const struct region_row *row, const struct table_column *columns)
{
    struct table_cell cells[COLUMNS_MAX];

    regions_cells(regions, row, cells);
    json_begin_object(json, NULL);
    for (size_t i = 0; i < FIXED; i++) {
        const char *key = columns[i].key;

        if (i == REGION) {
            json_put_text(json, key, cells[i].text);
            if (row->kind != APAPI_REGION_NAMED) {
                json_put_text(json, "kind", apapi_region_kind_name(row->kind));
            }
        } else if (key && columns[i].form == TABLE_TEXT) {
            json_put_word(json, key, cells[i].text);
        } else if (key && columns[i].form != TABLE_COUNT) {
            json_put_number(json, key, cells[i].value,
                            columns[i].form == TABLE_QUANTITY ? JSON_ROUGH : JSON_MEASURED);
        } else if (key && !isnan(cells[i].value)) {
            json_put_count(json, key, (uint64_t)cells[i].value);
        }
    }
    regions_json_domains(json, regions_use(regions, row));
    json_begin_object(json, "events");
    for (size_t i = 0; i < regions->events.count; i++) {
        json_put_number(json, regions_event_name(regions, i), regions_event_value(regions, row, i),
                        JSON_MEASURED);
    }
    if (regions->events.count > 0) {
        json_end(json);
    } else {
        json_end_or_drop(json);
    }
    json_end(json);
}

static void regions_json_fom(struct json_writer *json, const struct regions *regions,
                             const struct region_fom *fom)
{
    double energy_j = regions_total_j(regions, fom->where);

    json_begin_object(json, NULL);
    if (fom->where != POOL_NONE) {
        json_put_text(json, regions->where_titles[0], pool_text(&regions->texts, fom->where));
    }
    json_put_text(json, "name", fom->fom.name);
    json_put_number(json, "value", fom->fom.value, JSON_MEASURED);
    json_put_word(json, "unit", fom->fom.unit);
    json_put_number(json, "energy_j_each",
                    fom->fom.value > 0 ? energy_j / fom->fom.value : (double)NAN, JSON_MEASURED);
    json_end(json);
}

/* 0; -1 with errno ENOMEM. */
static int regions_print_json(const struct regions *regions)
{
    struct json_writer json = {.out = stdout};
    struct table_column columns[COLUMNS_MAX];
    char names[APAPI_DOMAINS][32];

    regions_columns(regions, columns, names);
    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_begin_array(&json, "regions");
    for (size_t i = 0; i < regions->row_count; i++) {
        regions_json_row(&json, regions, &regions->rows[i], columns);
    }
    json_end(&json);
    json_begin_array(&json, "foms");
    for (size_t i = 0; i < regions->fom_count; i++) {
        regions_json_fom(&json, regions, &regions->foms[i]);
    }
    json_end_or_drop(&json);
    json_end(&json);
    return json_finish(&json);
}

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
    for (size_t i = 0; i < sum->fom_count; i++) {
        if (regions_add_fom(regions, regions->split[0] ? where[0] : POOL_NONE, &sum->foms[i])) {
            return -1;
        }
    }
    return 0;
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
        const struct apapi_record *record = &show->records[i];
        uint32_t where[REGIONS_WHERE] = {pool_put(&regions->texts, record->id.step),
                                         pool_put(&regions->texts, record->id.node)};

        result = where[0] == POOL_NONE || where[1] == POOL_NONE
                     ? -1
                     : regions_job_take(regions, &record->regions, where);
    }
    return result ? -1 : show_each_regions(show, REGION_SUMS_MAX, regions_job_step, regions);
}

/* --- the command ------------------------------------------------------------------------------ */

#define COMMAND "regions"

struct options {
    enum { TYPE_SUMMARY, TYPE_DETAIL } type;
    enum { FORM_TABLE, FORM_JSON, FORM_CSV } form;
    struct report_input input;
    struct regions regions;
    struct show show;
    size_t records; /* of the job, with or without regions */
};

static const struct option_row rows[] = {
    {0, "type", "=TYPE",
     "summary (default), or detail: a row for each node, or each thread of a\n"
     "rank",
     TO_CHOICE(struct options, type, "summary or detail")},
    {'f', "format", "=FORM", "table (default), json or csv",
     TO_CHOICE(struct options, form, "table, json or csv")},
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

    regions->split[0] = regions->split[1] = options->type == TYPE_DETAIL;
    regions->where_titles[0] = "rank";
    regions->where_titles[1] = "thread";
    regions->ranks_title = "ranks";
    if (regions_read_folder(regions, path, regions_command_warn, &skipped, &err)) {
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
    return regions_exist(&record->regions) ? show_add(record, line, size, &options->show) : 0;
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
                   regions_read_job(&options->regions, &options->show, options->type == TYPE_DETAIL)
               ? command_fail(COMMAND, "no memory")
               : regions_command_print(options);
}

static int regions_command_words(struct options *options, char **words, size_t count)
{
    struct report_input *input = &options->input;

    report_input_words(input, words, count, count > 0 && job_is_named(words[0]));
    if (input->jobs) {
        int status;

        options->show.job = (uint32_t)strtoul(input->jobs, NULL, 10);
        status =
            report_input_print(input, regions_command_take, regions_command_print_job, options);
        show_free(&options->show);
        return status;
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
