/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi regions for people. Columns of which nothing is known are left out. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/count_of.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/grid.h"
#include "cli/regions/regions.h"
#include "output/table_regions.h"

#define PATH_LEAST 16

static int regions_text_count(struct grid *grid, uint64_t count)
{
    char text[24] = "";

    if (count > 0) {
        snprintf(text, sizeof text, "%" PRIu64, count);
    }
    return grid_put(grid, text);
}

/* Cells of numbers without a prefix: their title has the unit. */
static int regions_text_number(struct grid *grid, double value, int decimals)
{
    char text[UNITS_SIZE] = "";

    if (!isnan(value)) {
        snprintf(text, sizeof text, "%.*f", decimals, value);
    }
    return grid_put(grid, text);
}

static int regions_text_share(struct grid *grid, double share)
{
    char text[UNITS_SIZE] = "";

    if (!isnan(share)) {
        snprintf(text, sizeof text, "%.1f %%", 100 * share);
    }
    return grid_put(grid, text);
}

static int regions_text_time(struct grid *grid, double seconds)
{
    char text[UNITS_SIZE];

    units_short(text, sizeof text, seconds);
    return grid_put(grid, text);
}

static int regions_text_energy(struct grid *grid, const struct region_figures *figures)
{
    char energy[UNITS_SIZE], share[UNITS_SHARE_SIZE], text[UNITS_SIZE + UNITS_SHARE_SIZE] = "";

    if (!isnan(figures->energy_j)) {
        units_known_quantity(energy, sizeof energy, figures->energy_j, figures->uncertainty_j, "J");
        units_share(share, sizeof share, figures->uncertainty_j / figures->energy_j);
        snprintf(text, sizeof text, "%s%s%s", energy, *share ? " " : "", share);
    }
    return grid_put(grid, text);
}

static int regions_text_power(struct grid *grid, const struct region_figures *figures)
{
    char text[UNITS_SIZE] = "";

    if (!isnan(figures->power_w)) {
        units_known_quantity(text, sizeof text, figures->power_w,
                             figures->power_w * figures->uncertainty_j / figures->energy_j, "W");
    }
    return grid_put(grid, text);
}

static int regions_text_where(struct grid *grid, const struct regions *regions, uint32_t text)
{
    return grid_put(grid, text == POOL_NONE ? "" : pool_text(&regions->texts, text));
}

static int regions_text_row(struct grid *grid, const struct regions *regions,
                            const struct region_row *row)
{
    struct region_figures figures = regions_figures(regions, row);

    return regions_text_where(grid, regions, row->where[0]) ||
           regions_text_where(grid, regions, row->where[1]) ||
           grid_put(grid, pool_text(&regions->texts, row->path)) ||
           regions_text_count(grid, row->count) ||
           regions_text_count(grid, regions->split[1] ? 0 : row->ranks) ||
           regions_text_count(grid, regions->split[1] && row->threads == 1 ? 0 : row->threads) ||
           regions_text_time(grid, regions_use(regions, row)->time_s) ||
           regions_text_energy(grid, &figures) || regions_text_share(grid, figures.share) ||
           regions_text_power(grid, &figures) || regions_text_number(grid, figures.ipc, 2) ||
           regions_text_number(grid, figures.mflops, 1) ||
           regions_text_number(grid, figures.mflop_per_j, 2) ||
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
    int result = grid ? 0 : -1;

    if (grid) {
        grid_yield(grid, 2, PATH_LEAST, false);
    }
    for (size_t i = 0; i < regions->row_count && result == 0; i++) {
        result = regions_text_row(grid, regions, &regions->rows[i]);
    }
    if (result == 0) {
        grid_print(grid, stdout, terminal_width());
        regions_text_notes(regions);
    }
    grid_destroy(grid);
    return result;
}
