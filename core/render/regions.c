/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/regions.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "record/members.h"
#include "render/table.h"

#define LABEL_WIDTH 30
#define LABEL_TAIL 18
#define LABEL_LEAST 7 /* as wide as "package" in the table above this one */
#define CELL_WIDTH 12
#define SMALL_J 1e-6  /* if one unit takes less, the number of units per J is shown */
#define WHOLE_MAX 1e7 /* smaller whole numbers are not rounded */

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

static const struct table_column columns[] = {
    {.title = "region", .width = LABEL_LEAST},
    {.title = "time", .form = TABLE_SHORT, .width = CELL_WIDTH},
    {.title = "energy", .form = TABLE_KNOWN, .unit = "J", .width = CELL_WIDTH},
    {.title = ""},
    {.title = "mean", .form = TABLE_KNOWN, .unit = "W", .width = CELL_WIDTH},
    {.title = "method"}};

static void table_regions_put_row(const struct table *table,
                                  const struct apapi_region_result *region)
{
    double energy_j = apapi_region_energy_j(region);
    double uncertainty_j = table_region_uncertainty_j(region);
    double time_s = (double)region->time_ns / NS_PER_S;
    char label[4 * LABEL_WIDTH + 1];

    text_shorten(label, sizeof label, table_region_label(region), LABEL_WIDTH, LABEL_TAIL);
    table_put(table, (struct table_cell[]){CELL_TEXT(label),
                                           CELL(time_s),
                                           {.value = energy_j, .uncertainty = uncertainty_j},
                                           CELL_TEXT(units_share(uncertainty_j / energy_j).text),
                                           {.value = time_s > 0 ? energy_j / time_s : (double)NAN,
                                            .uncertainty = uncertainty_j / time_s},
                                           CELL_TEXT(apapi_region_method_name(region->method))});
}

/* "50 iterations", "1.250 Gcells" */
static struct units_text amount_text(double value, const char *unit)
{
    struct units_scale scale = units_scale(value);

    if (value == round(value) && fabs(value) < WHOLE_MAX) {
        scale = (struct units_scale){1, "", 0};
    }
    return units_part(true, "%s%s%s%s", units_number(value, &scale).text,
                      *scale.prefix || *unit ? " " : "", scale.prefix, unit);
}

struct fom_text table_fom_text(const struct apapi_fom *fom, double energy_j)
{
    double each_j = fom->value > 0 ? energy_j / fom->value : (double)NAN;
    bool small = each_j < SMALL_J, named = strcmp(fom->name, fom->unit) != 0;
    struct fom_text text;

    snprintf(text.text, sizeof text, "%s%s%s, %s %s", named ? fom->name : "", named ? " " : "",
             amount_text(fom->value, fom->unit).text,
             small ? amount_text(1 / each_j, fom->unit).text : units_quantity(each_j, "J").text,
             small ? "per J" : "each");
    return text;
}

int table_put_regions(const struct apapi_regions *regions, double energy_j, const char *step,
                      FILE *out)
{
    struct table table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, out);
    const struct apapi_region_losses *losses = &regions->losses;
    uint64_t programs = losses->programs + losses->refused, threads = losses->threads;
    size_t named = 0, shown = 0, more;

    table.width = 0;
    for (; named < regions->count && regions->list[named].kind == APAPI_REGION_NAMED; named++) {
        if (shown < TABLE_REGIONS) {
            table_regions_put_row(&table, &regions->list[named]);
            shown++;
        }
    }
    if (table_end(&table, NULL)) {
        return -1;
    }
    more = named - shown + losses->regions;
    if (named > 0 && more > 0) {
        text_wrap(out, "%zu more region%s%s%s", more, text_plural(more),
                  step ? ": apapi regions " : "", step ? step : "");
    }
    if (programs + threads > 0) {
        text_wrap(
            out, "not counted: regions of %s%s%s",
            units_part(programs, "%" PRIu64 " program%s", programs, text_plural(programs)).text,
            programs && threads ? " and " : "",
            units_part(threads, "%" PRIu64 " thread%s", threads, text_plural(threads)).text);
    }
    for (size_t i = 0; i < regions->fom_count; i++) {
        text_wrap(out, "%s", table_fom_text(&regions->foms[i], energy_j).text);
    }
    return 0;
}
