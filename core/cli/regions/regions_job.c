/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of a job's records: each step's are added up over its nodes. */
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "cli/regions/regions_job.h"
#include "render/regions.h"
#include "sum/members.h"

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

int regions_read_job(struct regions *regions, const struct show *show, bool detail)
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
