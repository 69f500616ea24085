/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions for people and for programs. Columns of which nothing is known are left out of a
 * text; in JSON unknown values have no key, in CSV they are empty. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/regions/regions.h"
#include "render/regions.h"
#include "render/table.h"

#define PATH_LEAST 16
#define FIXED 21 /* columns before those of domains and events */
#define COLUMNS_MAX (FIXED + APAPI_DOMAINS + REGIONS_EVENTS_MAX)

/* --- a table, and CSV ------------------------------------------------------------------------ */

static size_t regions_columns(const struct regions *regions, struct table_column *columns,
                              char names[APAPI_DOMAINS][32])
{
    const char *const *where = regions->where_titles;
    const struct table_column fixed[FIXED] = {
        {.title = where[0], .key = where[0]},
        {.title = where[1], .key = where[1]},
        {.title = "region", .key = "region", .least = PATH_LEAST},
        {.title = "count", .key = "count", .form = TABLE_COUNT},
        {.title = regions->ranks_title, .form = TABLE_COUNT},
        {.title = "threads", .form = TABLE_COUNT},
        {.key = regions->ranks_title, .form = TABLE_COUNT},
        {.key = "threads", .form = TABLE_COUNT},
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

    for (size_t i = 0; i < FIXED; i++) {
        columns[i] = fixed[i];
    }
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

static double regions_count(uint64_t count)
{
    return count > 0 ? (double)count : (double)NAN;
}

static void regions_put_row(const struct table *table, const struct regions *regions,
                            const struct region_row *row)
{
    const struct region_use *use = regions_use(regions, row);
    const struct region_figures figures = regions_figures(regions, row);
    const char *method = row->method ? row->method : "";
    bool threads = !regions->split[1] || row->threads != 1;
    struct table_cell cells[COLUMNS_MAX] = {
        CELL_TEXT(regions_where(regions, row, 0)),
        CELL_TEXT(regions_where(regions, row, 1)),
        CELL_TEXT(pool_text(&regions->texts, row->path)),
        CELL_OR_BLANK(regions_count(row->count)),
        CELL_OR_BLANK(regions->split[1] ? (double)NAN : regions_count(row->ranks)),
        CELL_OR_BLANK(threads ? regions_count(row->threads) : (double)NAN),
        CELL((double)row->ranks),
        CELL((double)row->threads),
        CELL_TEXT(method),
        CELL(use->time_s),
        CELL(use->wall_s),
        CELL_OR_BLANK(figures.energy_j),
        CELL(figures.uncertainty_j),
        CELL_OR_BLANK(100 * figures.share),
        CELL(figures.share),
        CELL_OR_BLANK(figures.power_w),
        CELL(figures.edp_js),
        CELL_OR_BLANK(figures.ipc),
        CELL_OR_BLANK(figures.mflops),
        CELL_OR_BLANK(figures.mflop_per_j),
        CELL_TEXT(method)};
    struct table_cell *next = cells + FIXED;

    cells[11].uncertainty = figures.uncertainty_j;
    cells[15].uncertainty = figures.power_w * figures.uncertainty_j / figures.energy_j;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        *next++ = (struct table_cell)CELL(use->energy_j[d]);
    }
    for (size_t i = 0; i < regions->events.count; i++) {
        *next++ = (struct table_cell)CELL(regions_event_value(regions, row, i));
    }
    table_put(table, cells);
}

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

int regions_print_table(const struct regions *regions, bool csv)
{
    struct table_column columns[COLUMNS_MAX];
    char names[APAPI_DOMAINS][32];
    size_t count = regions_columns(regions, columns, names);
    struct table table = table_begin(columns, count, csv, true, stdout);
    int result;

    for (size_t i = 0; i < regions->row_count; i++) {
        regions_put_row(&table, regions, &regions->rows[i]);
    }
    result = table_end(&table, NULL);
    if (result == 0 && !csv) {
        regions_put_notes(regions);
    }
    return result;
}

/* --- JSON ------------------------------------------------------------------------------------ */

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

static void regions_json_figures(struct json_writer *json, const struct regions *regions,
                                 const struct region_row *row)
{
    const struct region_use *use = regions_use(regions, row);
    const struct region_figures figures = regions_figures(regions, row);

    json_put_number(json, "time_s", use->time_s, JSON_MEASURED);
    json_put_number(json, "wall_s", use->wall_s, JSON_MEASURED);
    json_put_number(json, "energy_j", figures.energy_j, JSON_MEASURED);
    json_put_number(json, "uncertainty_j", figures.uncertainty_j, JSON_ROUGH);
    json_put_number(json, "share", figures.share, JSON_MEASURED);
    json_put_number(json, "mean_w", figures.power_w, JSON_MEASURED);
    json_put_number(json, "edp_js", figures.edp_js, JSON_MEASURED);
    json_put_number(json, "ipc", figures.ipc, JSON_MEASURED);
    json_put_number(json, "mflop_per_s", figures.mflops, JSON_MEASURED);
    json_put_number(json, "mflop_per_j", figures.mflop_per_j, JSON_MEASURED);
    regions_json_domains(json, use);
    if (regions->events.count > 0) {
        json_begin_object(json, "events");
        for (size_t i = 0; i < regions->events.count; i++) {
            json_put_number(json, regions_event_name(regions, i),
                            regions_event_value(regions, row, i), JSON_MEASURED);
        }
        json_end(json);
    }
}

static void regions_json_row(struct json_writer *json, const struct regions *regions,
                             const struct region_row *row)
{
    json_begin_object(json, NULL);
    for (size_t i = 0; i < COUNT_OF(row->where); i++) {
        json_put_word(json, regions->where_titles[i], regions_where(regions, row, i));
    }
    json_put_text(json, "region", pool_text(&regions->texts, row->path));
    if (row->kind != APAPI_REGION_NAMED) {
        json_put_text(json, "kind", apapi_region_kind_name(row->kind));
    }
    if (row->count > 0) {
        json_put_count(json, "count", row->count);
    }
    json_put_count(json, regions->ranks_title, row->ranks);
    json_put_count(json, "threads", row->threads);
    json_put_word(json, "method", row->method ? row->method : "");
    regions_json_figures(json, regions, row);
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

int regions_print_json(const struct regions *regions)
{
    struct json_writer json = {.out = stdout};

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", 1);
    json_begin_array(&json, "regions");
    for (size_t i = 0; i < regions->row_count; i++) {
        regions_json_row(&json, regions, &regions->rows[i]);
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
