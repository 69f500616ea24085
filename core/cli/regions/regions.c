/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions: energy and power of the parts of a program, see apapi-regions(1). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/job/job.h"
#include "cli/records/input.h"
#include "record/members.h"
#include "render/regions.h"
#include "render/table.h"
#include "sum/members.h"

#define COMMAND "regions"
#define LACK 0.001 /* part of a step's energy that rows may lack before that is reported */

/** Regions of a step. */
struct step_regions {
    struct apapi_regions regions;
    const char *name; /* "": there is only one step */
    double rows_j;    /* sum of all its rows; NaN: not known */
    double energy_j;  /* of the step, including nodes without regions; NaN: not known */
};

/** One row: a region of a step. */
struct region_row {
    const struct step_regions *step;
    const struct apapi_region_result *region;
};

struct options {
    enum { FORM_TABLE, FORM_JSON, FORM_CSV } form;
    struct query query;
    struct show show;
    struct step_regions *steps;
    struct region_row *rows;
    size_t row_count;
};

/* --- rows ------------------------------------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
    const struct region_row *a = left, *b = right;
    double a_j = apapi_region_energy_j(a->region), b_j = apapi_region_energy_j(b->region);
    int order = COMPARE(isnan(b_j) ? -1 : b_j, isnan(a_j) ? -1 : a_j);

    order = order ? order : COMPARE(b->region->time_ns, a->region->time_ns);
    order = order ? order : strcmp(a->region->path, b->region->path);
    return order ? order : COMPARE(a->step, b->step);
}

/* Add up the regions, and sort their rows. @return 0; -1: out of memory */
static int collect_rows(struct options *options)
{
    const struct show *show = &options->show;
    size_t count = 0, with_regions = 0;

    options->steps = calloc(show->step_count + 1, sizeof *options->steps);
    for (size_t s = 0; s < show->step_count; s++) {
        struct step_regions *step = options->steps ? &options->steps[s] : NULL;

        if (!step || show_regions(show, show->steps[s].name, REGION_SUMS_MAX, &step->regions)) {
            return -1;
        }
        step->energy_j = show->steps[s].used.energy_j;
        with_regions += regions_exist(&step->regions);
        count += step->regions.count;
    }
    options->rows = calloc(count + 1, sizeof *options->rows);
    for (size_t s = 0; s < show->step_count && options->rows; s++) {
        struct step_regions *step = &options->steps[s];

        for (size_t i = 0; i < step->regions.count; i++) {
            double energy_j = apapi_region_energy_j(&step->regions.list[i]);

            step->rows_j += isnan(energy_j) ? 0 : energy_j;
            options->rows[options->row_count++] = (struct region_row){step, &step->regions.list[i]};
        }
        step->rows_j = step->rows_j > 0 ? step->rows_j : NAN;
        step->name = with_regions > 1 ? show->steps[s].name : "";
    }
    if (options->rows && options->row_count > 0) {
        qsort(options->rows, options->row_count, sizeof *options->rows, compare_rows);
    }
    return options->rows ? 0 : -1;
}

/* --- columns ---------------------------------------------------------------------------------- */

enum { FIXED = 16, COLUMNS = FIXED + APAPI_DOMAINS - 1 };

/* Keys are used in CSV and JSON, the keys of domains in CSV only. */
static const struct table_column columns[COLUMNS] = {
    {.title = "step", .key = "step"},
    {.title = "region", .key = "region", .least = 16},
    {.key = "kind"},
    {.title = "count", .key = "count", .form = TABLE_COUNT},
    {.title = "programs", .key = "programs", .form = TABLE_COUNT},
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
    {.title = "method"},
    [FIXED] = {.key = "package_j", .form = TABLE_NUMBER},
    {.key = "dram_j", .form = TABLE_NUMBER},
    {.key = "gpu_j", .form = TABLE_NUMBER},
    {.key = "core_j", .form = TABLE_NUMBER},
    {.key = "uncore_j", .form = TABLE_NUMBER},
    {.key = "psys_j", .form = TABLE_NUMBER},
    {.key = "node_j", .form = TABLE_NUMBER}};

/* @return how many programs or threads used a region; NaN: not known */
static double users_of(uint32_t count)
{
    return count == 0 || count == APAPI_UNKNOWN ? (double)NAN : count;
}

static void fill_cells(const struct region_row *row, struct table_cell cells[COLUMNS])
{
    const struct apapi_region_result *region = row->region;
    const char *method = apapi_region_method_name(region->method);
    double programs = users_of(region->programs), threads = users_of(region->threads);
    double time_s = (double)region->time_ns / NS_PER_S, wall = time_s / threads;
    double energy_j = apapi_region_energy_j(region),
           uncertainty_j = table_region_uncertainty_j(region);
    double power_w = time_s > 0 ? energy_j / time_s : (double)NAN;
    double share = energy_j / row->step->rows_j;
    const struct table_cell fixed[FIXED] = {
        CELL_TEXT(row->step->name),
        CELL_TEXT(table_region_label(region)),
        CELL_TEXT(region->kind == APAPI_REGION_NAMED ? "" : apapi_region_kind_name(region->kind)),
        CELL_OR_BLANK(region->count > 0 ? (double)region->count : (double)NAN),
        CELL_OR_BLANK(programs),
        CELL_OR_BLANK(threads),
        CELL_TEXT(method),
        CELL(time_s),
        CELL(wall),
        {energy_j, isnan(energy_j) ? "" : NULL, uncertainty_j},
        CELL(uncertainty_j),
        CELL_OR_BLANK(100 * share),
        CELL(share),
        {power_w, isnan(power_w) ? "" : NULL, power_w * uncertainty_j / energy_j},
        CELL(energy_j * wall),
        CELL_TEXT(method)};

    memcpy(cells, fixed, sizeof fixed);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        cells[FIXED + d - 1] = (struct table_cell)CELL(region->domains[d].energy_j);
    }
}

/* --- output ----------------------------------------------------------------------------------- */

/* Report energy that is in no row: nodes may have no regions, or lack a domain that others know. */
static void print_lack(const struct step_regions *step)
{
    if (regions_exist(&step->regions) && step->rows_j < (1 - LACK) * step->energy_j) {
        text_wrap(stdout, *step->name ? "step %s: %s %s" : "%s%s %s", step->name,
                  units_energy(step->energy_j - step->rows_j, NAN, false).text,
                  "of the step are in no row: nodes without regions, or a domain that some nodes "
                  "do not know");
    }
}

static void print_foms(const struct step_regions *step)
{
    for (size_t i = 0; i < step->regions.fom_count; i++) {
        text_wrap(stdout, *step->name ? "step %s: %s" : "%s%s", step->name,
                  table_fom_text(&step->regions.foms[i], step->energy_j).text);
    }
}

static int print_table(const struct options *options)
{
    bool csv = options->form == FORM_CSV;
    struct table table =
        table_begin(columns, COLUMNS, csv ? TABLE_CSV : TABLE_FOR_PEOPLE, true, stdout);
    struct table_cell cells[COLUMNS];

    for (size_t i = 0; i < options->row_count; i++) {
        fill_cells(&options->rows[i], cells);
        table_put(&table, cells);
    }
    if (table_end(&table, NULL)) {
        return -1;
    }
    for (size_t s = 0; s < options->show.step_count && !csv; s++) {
        print_lack(&options->steps[s]);
        print_foms(&options->steps[s]);
    }
    return 0;
}

static void put_json_row(struct json_writer *json, const struct region_row *row)
{
    static const struct field energy_fields[] = {
        FIELD_OF(apapi_region_energy, "energy_j", MEASURED, false, energy_j),
        FIELD_OF(apapi_region_energy, "uncertainty_j", ROUGH, false, uncertainty_j), FIELD_END};
    static const struct field domain_fields[] = {
        FIELD_DOMAINS_OF(apapi_region_result, "domains", true, domains, energy_fields, NULL),
        FIELD_END};
    struct table_cell cells[COLUMNS];

    fill_cells(row, cells);
    json_begin_object(json, NULL);
    table_write_cells(json, columns, FIXED, cells);
    fields_write(json, domain_fields, row->region);
    json_end(json);
}

static void put_json_foms(struct json_writer *json, const struct step_regions *step)
{
    for (size_t i = 0; i < step->regions.fom_count; i++) {
        const struct apapi_fom *fom = &step->regions.foms[i];

        json_begin_object(json, NULL);
        json_put_word(json, "step", step->name);
        json_put_text(json, "name", fom->name);
        json_put_number(json, "value", fom->value, JSON_MEASURED);
        json_put_word(json, "unit", fom->unit);
        json_put_number(json, "energy_j_each",
                        fom->value > 0 ? step->energy_j / fom->value : (double)NAN, JSON_MEASURED);
        json_end(json);
    }
}

static int print_json(const struct options *options)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_begin_array(&json, "regions");
    for (size_t i = 0; i < options->row_count; i++) {
        put_json_row(&json, &options->rows[i]);
    }
    json_end(&json);
    json_begin_array(&json, "foms");
    for (size_t s = 0; s < options->show.step_count; s++) {
        put_json_foms(&json, &options->steps[s]);
    }
    json_end_or_drop(&json);
    json_end(&json);
    return json_finish(&json);
}

/* --- the command ------------------------------------------------------------------------------ */

static const struct option_row rows[] = {{'f', "format", "=FORM", "table (default), json or csv",
                                          TO_CHOICE(struct options, form, "table, json and csv")},
                                         {'j', "jobs", "=JOB[.STEP]",
                                          "the job; then all arguments are FILEs",
                                          TO_WORDS(struct options, query.jobs)},
                                         {OPTION_ROWS_OF(struct options, query, query_filter_rows)},
                                         {OPTION_ROWS_OF(struct options, query, query_source_rows)},
                                         {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi regions [OPTION]... JOB[.STEP] [FILE]...\n"
            "Show what the regions of a program used: time, energy and power, added up over\n"
            "threads, programs and nodes; from a job's records in the accounting folder or in\n"
            "FILEs (-: a pipe).\n",
    .foot = "Exit status: 0 done, 1 nothing found, or failure, 2 wrong usage.\n",
    .column = 25,
    .rows = rows};

static int print_job(struct options *options)
{
    struct show *show = &options->show;
    int status = show_choose(show, &options->query);
    bool found = false, failed;

    for (size_t i = 0; i < show->count && status == 0; i++) {
        found |= regions_exist(&show->records[i].regions);
    }
    if (status || !found) {
        return status ? status : command_fail(COMMAND, "no region in the records of this job");
    }
    if (show->left_out > 0) {
        fprintf(stderr, "apapi " COMMAND ": %zu records had no room here\n", show->left_out);
    }
    failed =
        collect_rows(options) || (options->form == FORM_JSON ? print_json : print_table)(options);
    return command_end(COMMAND, failed);
}

int regions_command(int argc, char **argv)
{
    static struct options options = {.query = {.command = COMMAND}};
    struct query *query = &options.query;
    int status = option_table_read(&table, argc, argv, &options);

    if (status >= 0) {
        return status;
    }
    query_words(query, argv + optind, (size_t)(argc - optind), true);
    if (!query->jobs) {
        return command_refuse(COMMAND, "which JOB? See 'apapi help regions'");
    }
    status = records_begin(query);
    options.show.job = status ? 0 : query->job_list.jobs[0];
    status = status ? status : records_read(query, show_add, &options.show);
    status = records_end(query, status ? status : print_job(&options));
    for (size_t s = 0; options.steps && s < options.show.step_count; s++) {
        apapi_regions_clear(&options.steps[s].regions);
    }
    free(options.steps);
    free(options.rows);
    show_free(&options.show);
    return status;
}
