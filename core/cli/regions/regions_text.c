/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions for people. Columns of which nothing is known are left out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/regions/regions.h"
#include "render/grid.h"
#include "render/regions.h"

#define PATH_LEAST 16

static void regions_text_count(struct grid *grid, uint64_t count)
{
    grid_format(grid, count > 0 ? "%" PRIu64 : "", count);
}

/* Cells of numbers without a prefix: their title has the unit. */
static void regions_text_number(struct grid *grid, double value, int decimals)
{
    grid_format(grid, isnan(value) ? "" : "%.*f", decimals, value);
}

static void regions_text_time(struct grid *grid, double seconds)
{
    char text[UNITS_SIZE];

    units_short(text, sizeof text, seconds);
    grid_put(grid, text);
}

static void regions_text_energy(struct grid *grid, const struct region_figures *figures)
{
    char energy[UNITS_SIZE] = "", share[UNITS_SHARE_SIZE] = "";

    if (!isnan(figures->energy_j)) {
        units_known_quantity(energy, sizeof energy, figures->energy_j, figures->uncertainty_j, "J");
        units_share(share, sizeof share, figures->uncertainty_j / figures->energy_j);
    }
    grid_format(grid, "%s%s%s", energy, *share ? " " : "", share);
}

static void regions_text_power(struct grid *grid, const struct region_figures *figures)
{
    char text[UNITS_SIZE] = "";

    if (!isnan(figures->power_w)) {
        units_known_quantity(text, sizeof text, figures->power_w,
                             figures->power_w * figures->uncertainty_j / figures->energy_j, "W");
    }
    grid_put(grid, text);
}

static void regions_text_row(struct grid *grid, const struct regions *regions,
                             const struct region_row *row)
{
    struct region_figures figures = regions_figures(regions, row);

    for (size_t i = 0; i < COUNT_OF(row->where); i++) {
        grid_put(grid, row->where[i] == POOL_NONE ? "" : pool_text(&regions->texts, row->where[i]));
    }
    grid_put(grid, pool_text(&regions->texts, row->path));
    regions_text_count(grid, row->count);
    regions_text_count(grid, regions->split[1] ? 0 : row->ranks);
    regions_text_count(grid, regions->split[1] && row->threads == 1 ? 0 : row->threads);
    regions_text_time(grid, regions_use(regions, row)->time_s);
    regions_text_energy(grid, &figures);
    grid_format(grid, isnan(figures.share) ? "" : "%.1f %%", 100 * figures.share);
    regions_text_power(grid, &figures);
    regions_text_number(grid, figures.ipc, 2);
    regions_text_number(grid, figures.mflops, 1);
    regions_text_number(grid, figures.mflop_per_j, 2);
    grid_put(grid, row->method ? row->method : "");
}

static void regions_text_fom(const struct regions *regions, const struct region_fom *fom)
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

static void regions_text_notes(const struct regions *regions)
{
    for (size_t i = 0; i < regions->fom_count; i++) {
        regions_text_fom(regions, &regions->foms[i]);
    }
    if (regions->shared) {
        text_wrap(stdout, "PAPI's energy is that of the whole node for each thread: of all threads "
                          "the one that saw the most counts");
    }
    if (regions->dropped > 0) {
        printf("  %zu more have no room here\n", regions->dropped);
    }
}

int regions_print_text(const struct regions *regions)
{
    const struct grid_column columns[] = {{regions->where_titles[0], false},
                                          {regions->where_titles[1], false},
                                          {"region", false},
                                          {"count", true},
                                          {regions->ranks_title, true},
                                          {"threads", true},
                                          {"time", true},
                                          {"energy", true},
                                          {"share", true},
                                          {"mean", true},
                                          {"IPC", true},
                                          {"MFLOP/s", true},
                                          {"MFLOP/J", true},
                                          {"method", false}};
    struct grid *grid = grid_create(columns, COUNT_OF(columns));
    int result;

    grid_yield(grid, 2, PATH_LEAST, false);
    for (size_t i = 0; i < regions->row_count; i++) {
        regions_text_row(grid, regions, &regions->rows[i]);
    }
    result = grid_finish(grid, NULL, stdout, terminal_width());
    if (result == 0) {
        regions_text_notes(regions);
    }
    return result;
}
