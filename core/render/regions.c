/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/regions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "record/members.h"

#define LABEL_WIDTH 30
#define LABEL_TAIL 18
#define LABEL_LEAST 7 /* "package" above it */
#define CELL_WIDTH 12
#define AMOUNT_SIZE (UNITS_SIZE + APAPI_FOM_UNIT_SIZE)
#define SMALL_J 1e-6  /* below it how many of a thing there are in 1 J is shown */
#define WHOLE_MAX 1e7 /* whole numbers below are not rounded */

struct region_cells {
    char label[4 * LABEL_WIDTH + 1];
    char time[UNITS_SIZE], energy[UNITS_SIZE], share[UNITS_SHARE_SIZE], power[UNITS_SIZE];
    const char *method;
};

const char *table_region_label(const struct apapi_region_result *region)
{
    static const char *const labels[] = {[APAPI_REGION_UNMARKED] = "(unmarked)",
                                         [APAPI_REGION_IDLE] = "(idle)",
                                         [APAPI_REGION_REST] = "(rest)"};

    return region->kind == APAPI_REGION_NAMED ? region->path : labels[region->kind];
}

double table_region_uncertainty_j(const struct apapi_region_result *region)
{
    return energies_sum(region->domains, sizeof region->domains[0], ENERGIES_UNCERTAINTY_J);
}

static void table_regions_format(const struct apapi_region_result *region,
                                 struct region_cells *cells)
{
    double energy_j = apapi_region_energy_j(region);
    double uncertainty_j = table_region_uncertainty_j(region);
    double time_s = (double)region->time_ns / NS_PER_S;
    char clean[APAPI_REGION_PATH_SIZE];

    text_clean(clean, sizeof clean, table_region_label(region));
    text_shorten(cells->label, sizeof cells->label, clean, LABEL_WIDTH, LABEL_TAIL);
    units_short(cells->time, sizeof cells->time, time_s);
    units_known_quantity(cells->energy, sizeof cells->energy, energy_j, uncertainty_j, "J");
    units_share(cells->share, sizeof cells->share, uncertainty_j / energy_j);
    units_known_quantity(cells->power, sizeof cells->power,
                         time_s > 0 ? energy_j / time_s : (double)NAN, uncertainty_j / time_s, "W");
    cells->method = apapi_region_method_name(region->method);
}

/* @param width  below 0: of a text at the left */
static void table_regions_put_cell(const char *text, int width, FILE *out)
{
    int columns = (int)text_columns(text), padding = abs(width) - columns;

    padding = padding > 0 ? padding : 0;
    fprintf(out, "  %*s%s%*s", width > 0 ? padding : 0, "", text, width < 0 ? padding : 0, "");
}

static void table_regions_put_rows(const struct region_cells *cells, size_t count, FILE *out)
{
    int label = LABEL_LEAST, share = 0;

    for (size_t i = 0; i < count; i++) {
        int columns = (int)text_columns(cells[i].label);
        int width = (int)text_columns(cells[i].share);

        label = columns > label ? columns : label;
        share = width > share ? width : share;
    }
    for (size_t i = 0; i < count; i++) {
        table_regions_put_cell(i ? cells[i].label : "region", -label, out);
        table_regions_put_cell(cells[i].time, CELL_WIDTH, out);
        table_regions_put_cell(cells[i].energy, CELL_WIDTH, out);
        if (share > 0) {
            table_regions_put_cell(cells[i].share, -share, out);
        }
        table_regions_put_cell(cells[i].power, CELL_WIDTH, out);
        fprintf(out, "  %s\n", cells[i].method);
    }
}

/* "50 iterations", "1.250 Gcells" */
static void table_regions_amount(char *text, size_t size, double value, const char *unit)
{
    struct units_scale scale = units_scale(value);
    char number[UNITS_SIZE];

    if (value == round(value) && fabs(value) < WHOLE_MAX) {
        scale = (struct units_scale){1, "", 0};
    }
    units_number(number, sizeof number, value, &scale);
    snprintf(text, size, "%s%s%s%s", number, *scale.prefix || *unit ? " " : "", scale.prefix, unit);
}

void table_fom_text(char *text, size_t size, const struct apapi_fom *fom, double energy_j)
{
    char value[AMOUNT_SIZE], each[AMOUNT_SIZE];
    double each_j = fom->value > 0 ? energy_j / fom->value : (double)NAN;

    table_regions_amount(value, sizeof value, fom->value, fom->unit);
    if (each_j < SMALL_J) {
        table_regions_amount(each, sizeof each, 1 / each_j, fom->unit);
    } else {
        units_quantity(each, sizeof each, each_j, "J");
    }
    snprintf(text, size, "%s%s%s, %s %s", strcmp(fom->name, fom->unit) ? fom->name : "",
             strcmp(fom->name, fom->unit) ? " " : "", value, each,
             each_j < SMALL_J ? "per J" : "each");
}

void table_put_regions(const struct apapi_regions *regions, double energy_j, const char *step,
                       FILE *out)
{
    struct region_cells cells[TABLE_REGIONS + 1] = {{.label = "region",
                                                     .time = "time",
                                                     .energy = "energy",
                                                     .power = "mean",
                                                     .method = "method"}};
    size_t named = 0, shown = 0, more;
    char text[TABLE_FOM_SIZE];

    for (; named < regions->count && regions->list[named].kind == APAPI_REGION_NAMED; named++) {
        if (shown < TABLE_REGIONS) {
            table_regions_format(&regions->list[named], &cells[++shown]);
        }
    }
    more = named - shown + regions->losses.regions;
    if (named > 0) {
        table_regions_put_rows(cells, shown + 1, out);
        if (more > 0) {
            snprintf(text, sizeof text, "%zu more region%s%s%s", more, text_plural(more),
                     step ? ": apapi regions " : "", step ? step : "");
            text_wrap(out, text);
        }
    }
    for (size_t i = 0; i < regions->fom_count; i++) {
        table_fom_text(text, sizeof text, &regions->foms[i], energy_j);
        text_wrap(out, text);
    }
}
