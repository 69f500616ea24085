/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/print_regions.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "base/units.h"
#include "render/regions.h"
#include "sum/members.h"

#define LABEL_WIDTH 16
#define LABEL_TAIL 10
#define REGIONS_CELL_WIDTH 22
#define CELL_SIZE (2 * UNITS_SIZE + 8)

int report_regions(const struct report *report, struct apapi_regions *result)
{
    struct region_sums sums = {0};
    int rc = 0;

    for (size_t i = 0; i < report->count && rc == 0; i++) {
        rc = region_sums_add(&sums, &report->runs[i].record);
    }
    if (rc == 0) {
        rc = region_sums_result(&sums, APAPI_REGIONS_MAX, result);
    }
    region_sums_free(&sums);
    return rc;
}

static const struct apapi_region_result *
print_regions_find(const struct apapi_regions *regions, const struct apapi_region_result *region)
{
    for (size_t i = 0; i < regions->count; i++) {
        if (regions->list[i].kind == region->kind &&
            strcmp(regions->list[i].path, region->path) == 0) {
            return &regions->list[i];
        }
    }
    return NULL;
}

static void print_regions_add(struct spread_sum *sum, double value)
{
    if (!isnan(value)) {
        spread_add(sum, value);
    }
}

struct region_spread report_region(const struct report *report,
                                   const struct apapi_region_result *region)
{
    struct spread_sum time_s = {0}, energy_j = {0}, mean_w = {0};

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_region_result *one =
            print_regions_find(&report->runs[i].record.regions, region);
        double one_j = one ? apapi_region_energy_j(one) : (double)NAN;
        double one_s = one ? (double)one->time_ns / NS_PER_S : (double)NAN;

        print_regions_add(&time_s, one_s);
        print_regions_add(&energy_j, one_j);
        print_regions_add(&mean_w, one_s > 0 ? one_j / one_s : (double)NAN);
    }
    return (struct region_spread){spread_of(&time_s), spread_of(&energy_j), spread_of(&mean_w)};
}

static void print_regions_cell(FILE *out, const struct spread *spread, const char *unit)
{
    char cell[CELL_SIZE];
    int columns;

    print_spread(cell, sizeof cell, spread, unit);
    columns = (int)text_columns(cell);
    fprintf(out, "  %*s%s", columns < REGIONS_CELL_WIDTH ? REGIONS_CELL_WIDTH - columns : 0, "",
            cell);
}

static void print_regions_row(FILE *out, const struct report *report,
                              const struct apapi_region_result *region)
{
    const struct region_spread spread = report_region(report, region);
    char clean[APAPI_REGION_PATH_SIZE], label[4 * LABEL_WIDTH + 1];
    int columns;

    text_clean(clean, sizeof clean, table_region_label(region));
    text_shorten(label, sizeof label, clean, LABEL_WIDTH, LABEL_TAIL);
    columns = (int)text_columns(label);
    fprintf(out, "  %s%*s", label, columns < LABEL_WIDTH ? LABEL_WIDTH - columns : 0, "");
    print_regions_cell(out, &spread.energy_j, "J");
    print_regions_cell(out, &spread.mean_w, "W");
    fprintf(out, "  %s", apapi_region_method_name(region->method));
    if (spread.time_s.count < report->count) {
        fprintf(out, ", %zu of %zu runs", spread.time_s.count, report->count);
    }
    fputc('\n', out);
}

/* Of one run, on average. */
static void print_regions_fom(FILE *out, const struct report *report, struct apapi_fom fom)
{
    const struct spread energy_j = report_spread(report, run_energy_j, APAPI_DOMAIN_NONE);
    char text[TABLE_FOM_SIZE];

    fom.value /= (double)report->count;
    table_fom_text(text, sizeof text, &fom, energy_j.mean);
    text_wrap(out, text);
}

int print_regions(FILE *out, const struct report *report)
{
    struct apapi_regions regions;
    size_t named = 0;

    if (report_regions(report, &regions)) {
        return -1;
    }
    for (; named < regions.count && regions.list[named].kind == APAPI_REGION_NAMED; named++) {
        if (named == 0) {
            fprintf(out, "  %-*s%*s%*s  method\n", LABEL_WIDTH, "region", REGIONS_CELL_WIDTH + 2,
                    "energy", REGIONS_CELL_WIDTH + 2, "mean");
        }
        if (named < TABLE_REGIONS) {
            print_regions_row(out, report, &regions.list[named]);
        }
    }
    if (named > TABLE_REGIONS) {
        fprintf(out, "  %zu more region%s\n", named - TABLE_REGIONS,
                named == TABLE_REGIONS + 1 ? "" : "s");
    }
    for (size_t i = 0; i < regions.fom_count; i++) {
        print_regions_fom(out, report, regions.foms[i]);
    }
    apapi_regions_clear(&regions);
    return 0;
}
