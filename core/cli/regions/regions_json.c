/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions for programs: JSON and CSV. Unknown values have no key, or are empty. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "cli/json.h"
#include "cli/regions/regions.h"
#include "record/fields.h"
#include "render/csv.h"

/* --- JSON ----------------------------------------------------------------------------------- */

static int regions_json_domain(json_t *object, const void *context, size_t d)
{
    const struct region_use *use = context;

    if (isnan(use->energy_j[d])) {
        return FIELDS_NONE;
    }
    return field_put_measured(object, "energy_j", use->energy_j[d]) ||
           field_put_rough(object, "uncertainty_j", use->uncertainty_j[d]);
}

static int regions_json_events(json_t *object, const struct regions *regions,
                               const struct region_row *row)
{
    json_t *events = json_object();
    int result = field_put(object, "events", events);

    for (size_t i = 0; i < regions->events.count && result == 0; i++) {
        result = field_put_measured(events, regions_event_name(regions, i),
                                    regions_event_value(regions, row, i));
    }
    return result;
}

static int regions_json_figures(json_t *object, const struct regions *regions,
                                const struct region_row *row)
{
    const struct region_use *use = regions_use(regions, row);
    struct region_figures figures = regions_figures(regions, row);

    return field_put_measured(object, "time_s", use->time_s) ||
           field_put_measured(object, "wall_s", use->wall_s) ||
           field_put_measured(object, "energy_j", figures.energy_j) ||
           field_put_rough(object, "uncertainty_j", figures.uncertainty_j) ||
           field_put_measured(object, "share", figures.share) ||
           field_put_measured(object, "mean_w", figures.power_w) ||
           field_put_measured(object, "edp_js", figures.edp_js) ||
           field_put_measured(object, "ipc", figures.ipc) ||
           field_put_measured(object, "mflop_per_s", figures.mflops) ||
           field_put_measured(object, "mflop_per_j", figures.mflop_per_j) ||
           fields_put_domains(object, "domains", regions_json_domain, use) ||
           (regions->events.count > 0 && regions_json_events(object, regions, row));
}

static int regions_json_where(json_t *object, const struct regions *regions,
                              const struct region_row *row)
{
    for (size_t i = 0; i < COUNT_OF(row->where); i++) {
        if (row->where[i] != POOL_NONE &&
            field_put_text(object, regions->where_titles[i],
                           pool_text(&regions->texts, row->where[i]))) {
            return -1;
        }
    }
    return 0;
}

static int regions_json_row(json_t *object, const void *context, size_t i)
{
    const struct regions *regions = context;
    const struct region_row *row = &regions->rows[i];

    return regions_json_where(object, regions, row) ||
           field_put_text(object, "region", pool_text(&regions->texts, row->path)) ||
           (row->kind != APAPI_REGION_NAMED &&
            field_put_text(object, "kind", apapi_region_kind_name(row->kind))) ||
           (row->count > 0 && field_put_count(object, "count", row->count)) ||
           field_put_count(object, regions->ranks_title, row->ranks) ||
           field_put_count(object, "threads", row->threads) ||
           (row->method && field_put_text(object, "method", row->method)) ||
           regions_json_figures(object, regions, row);
}

static int regions_json_fom(json_t *object, const void *context, size_t i)
{
    const struct regions *regions = context;
    const struct region_fom *fom = &regions->foms[i];
    double energy_j = regions_total_j(regions, fom->where);

    return (fom->where != POOL_NONE && field_put_text(object, regions->where_titles[0],
                                                      pool_text(&regions->texts, fom->where))) ||
           field_put_text(object, "name", fom->fom.name) ||
           field_put_measured(object, "value", fom->fom.value) ||
           (*fom->fom.unit && field_put_text(object, "unit", fom->fom.unit)) ||
           field_put_measured(object, "energy_j_each",
                              fom->fom.value > 0 ? energy_j / fom->fom.value : (double)NAN);
}

int regions_print_json(const struct regions *regions)
{
    json_t *object = json_object();

    return json_print(
        object,
        field_put_count(object, "version", 1) ||
            fields_put_list(object, "regions", regions->row_count, regions_json_row, regions) ||
            (regions->fom_count > 0 &&
             fields_put_list(object, "foms", regions->fom_count, regions_json_fom, regions)));
}

/* --- CSV ------------------------------------------------------------------------------------ */

static void regions_csv_titles(const struct regions *regions)
{
    printf("%s,%s,region,count,%s,threads,method,time_s,wall_s,energy_j,uncertainty_j,share,mean_w,"
           "edp_js,ipc,mflop_per_s,mflop_per_j",
           regions->where_titles[0], regions->where_titles[1], regions->ranks_title);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        printf(",%s_j", apapi_domain_name(d));
    }
    for (size_t i = 0; i < regions->events.count; i++) {
        putchar(',');
        csv_put_text(stdout, regions_event_name(regions, i));
    }
    putchar('\n');
}

static void regions_csv_lead(const struct regions *regions, const struct region_row *row)
{
    for (size_t i = 0; i < COUNT_OF(row->where); i++) {
        csv_put_text(stdout,
                     row->where[i] == POOL_NONE ? "" : pool_text(&regions->texts, row->where[i]));
        putchar(',');
    }
    csv_put_text(stdout, pool_text(&regions->texts, row->path));
    csv_put_number_cell(stdout, row->count > 0 ? (double)row->count : (double)NAN);
    printf(",%" PRIu64 ",%" PRIu64 ",%s", row->ranks, row->threads, row->method ? row->method : "");
}

static void regions_csv_row(const struct regions *regions, const struct region_row *row)
{
    const struct region_use *use = regions_use(regions, row);
    struct region_figures figures = regions_figures(regions, row);
    const double numbers[] = {use->time_s,           use->wall_s,   figures.energy_j,
                              figures.uncertainty_j, figures.share, figures.power_w,
                              figures.edp_js,        figures.ipc,   figures.mflops,
                              figures.mflop_per_j};

    regions_csv_lead(regions, row);
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        csv_put_number_cell(stdout, numbers[i]);
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        csv_put_number_cell(stdout, use->energy_j[d]);
    }
    for (size_t i = 0; i < regions->events.count; i++) {
        csv_put_number_cell(stdout, regions_event_value(regions, row, i));
    }
    putchar('\n');
}

int regions_print_csv(const struct regions *regions)
{
    regions_csv_titles(regions);
    for (size_t i = 0; i < regions->row_count; i++) {
        regions_csv_row(regions, &regions->rows[i]);
    }
    return 0;
}
