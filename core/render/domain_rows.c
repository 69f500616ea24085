/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/domain_rows.h"

#include <math.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "record/record.h"
#include "render/table.h"

#define POWER_KNOWN 0.05 /* uncertainty limit: powers are of readings or windows, beside a mean */

static struct table_row *table_rows_add(struct table_rows *rows, const struct merge_domain *sum,
                                        bool brief)
{
    const struct apapi_summary none = {NAN, NAN, NAN, NAN};
    const struct apapi_summary *power_w = brief ? &none : &sum->power_w;
    struct table_row *row = &rows->rows[rows->count++];

    *row = (struct table_row){
        .uncertainty = sum->energy_j > 0 ? sum->uncertainty_j / sum->energy_j : NAN,
        .values = {sum->energy_j, power_w->mean, power_w->min, power_w->max, power_w->p95},
        .columns = rows->columns,
        .sum = *sum};
    row->sum.bin_ns = brief ? 0 : sum->bin_ns;
    return row;
}

static void table_rows_add_domains(struct table_rows *rows, const struct merge_domain *domains,
                                   bool adds_up, bool brief)
{
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (domains[d].nodes > 0 && apapi_domain_adds_up(d) == adds_up) {
            struct table_row *row = table_rows_add(rows, &domains[d], brief);

            snprintf(row->label, sizeof row->label, adds_up ? "%s" : "(%s)", apapi_domain_name(d));
        }
    }
}

void table_rows_collect(struct table_rows *rows, const struct merge_domain *domains,
                        const struct merge_domain *total, const char *label, bool brief)
{
    table_rows_add_domains(rows, domains, true, brief);
    if (rows->count > 0) {
        struct table_row *row = table_rows_add(rows, total, brief);

        snprintf(row->label, sizeof row->label, "%s", label);
        row->is_total = true;
        row->columns = row->sum.bin_ns > 0 ? ROW_MAX + 1 : ROW_MEAN + 1;
    }
    table_rows_add_domains(rows, domains, false, brief);
}

void table_put_brief(uint64_t window_ns, FILE *out)
{
    fprintf(out, "  too short for a power, which is taken over %s at least\n",
            units_short((double)window_ns / NS_PER_S).text);
}

/* A column has one scale, so that it can be added up by eye; a value that would lose its digits in
 * this scale has its own prefix. @param most  greatest value of the column */
static struct units_text row_cell(const struct table_row *row, size_t column, double most)
{
    const struct units_scale common = units_scale(most);
    struct units_scale scale = common;
    double value = row->values[column], uncertainty = row->uncertainty;

    if (value != 0 && fabs(value) < most / 100) {
        scale = units_scale(value);
        scale.decimals = common.decimals;
    }
    if (column != ROW_ENERGY && uncertainty > POWER_KNOWN) {
        uncertainty = POWER_KNOWN;
    }
    units_keep_known(&scale, value, fabs(value) * uncertainty);
    return units_part(column < row->columns, isnan(value) ? "-" : "%s %*s%s",
                      units_number(value, &scale).text, (int)strlen(common.prefix), scale.prefix,
                      column == ROW_ENERGY ? "J" : "W");
}

int table_rows_put(const struct table_rows *rows, FILE *out)
{
    struct table_column columns[] = {{.title = "domain", .width = 7}, /* "package" */
                                     {.title = "energy", .form = TABLE_RIGHT, .gap = 3},
                                     {.title = "", .gap = 1},
                                     {.title = "mean", .form = TABLE_RIGHT, .gap = 3},
                                     {.title = "min", .form = TABLE_RIGHT, .gap = 3},
                                     {.title = "max", .form = TABLE_RIGHT, .gap = 3},
                                     {.title = "p95", .form = TABLE_RIGHT, .gap = 3}};
    struct table table = table_begin(columns, COUNT_OF(columns), TABLE_FOR_PEOPLE, true, out);
    double most[ROW_COLUMNS] = {0};

    table.width = 0;
    for (size_t column = 0; column < rows->columns; column++) {
        columns[column + (column == ROW_ENERGY ? 1 : 2)].width = rows->least_width[column];
        for (size_t i = 0; i < rows->count; i++) {
            const struct table_row *row = &rows->rows[i];

            most[column] = column < row->columns ? fmax(most[column], fabs(row->values[column]))
                                                 : most[column];
        }
    }
    for (size_t i = 0; i < rows->count; i++) {
        const struct table_row *row = &rows->rows[i];

        table_put(&table,
                  (struct table_cell[]){CELL_TEXT(row->label),
                                        CELL_TEXT(row_cell(row, ROW_ENERGY, most[ROW_ENERGY]).text),
                                        CELL_TEXT(units_share(row->uncertainty).text),
                                        CELL_TEXT(row_cell(row, ROW_MEAN, most[ROW_MEAN]).text),
                                        CELL_TEXT(row_cell(row, ROW_MIN, most[ROW_MIN]).text),
                                        CELL_TEXT(row_cell(row, ROW_MAX, most[ROW_MAX]).text),
                                        CELL_TEXT(row_cell(row, ROW_P95, most[ROW_P95]).text)});
    }
    return table_end(&table, NULL);
}

static bool has_gap(const struct table_row *row)
{
    return !row->is_total && coverage_is_low(row->sum.covered);
}

/*
 * Print one line for all domains with the coverage of row `first`, without names if all have it.
 * @param said  result, by row: the row has a line
 */
static void put_covered(const struct table_rows *rows, size_t first, double said_pct, bool *said,
                        FILE *out)
{
    double pct = coverage_pct(rows->rows[first].sum.covered);
    char labels[(APAPI_DOMAINS + 1) * sizeof rows->rows->label] = "";
    size_t length = 0, others = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct table_row *row = &rows->rows[i];
        bool alike = has_gap(row) && coverage_pct(row->sum.covered) == pct;

        said[i] |= alike;
        others += !alike && !row->is_total;
        if (alike) {
            length += (size_t)snprintf(labels + length, sizeof labels - length, "%s%s",
                                       length ? ", " : "", row->label);
        }
    }
    if (others > 0) {
        fprintf(out, "  %s: energy of the covered %.1f %%\n", labels, pct);
    } else if (!(fabs(pct - said_pct) < 0.05)) {
        fprintf(out, "  energy of the covered %.1f %%\n", pct);
    }
}

void table_rows_put_coverage(const struct table_rows *rows, double said_pct, FILE *out)
{
    char rests[TEXT_COLUMNS * 4] = "";
    bool said[APAPI_DOMAINS + 1] = {false};
    size_t length = 0, listed = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (has_gap(&rows->rows[i]) && !said[i]) {
            put_covered(rows, i, said_pct, said, out);
        }
    }
    /* "package 1.2 kJ, dram 200 J, total 1.4 kJ" */
    for (size_t i = 0; i < rows->count && length < sizeof rests; i++) {
        const struct table_row *row = &rows->rows[i];

        if (row->sum.rest_j > 0 &&
            (row->is_total ? listed > 1 : coverage_is_low(row->sum.covered))) {
            length += (size_t)snprintf(rests + length, sizeof rests - length, "%s%s %s",
                                       listed++ ? ", " : "", row->label,
                                       units_quantity(row->sum.rest_j, "J").text);
        }
    }
    if (*rests) {
        text_wrap(out, "estimate for the rest, not included: %s", rests);
    }
}

void table_put_shared(uint32_t cores, uint32_t node_cores, size_t nodes, FILE *out)
{
    if (cores > 0 && cores < node_cores && node_cores != APAPI_UNKNOWN) {
        fprintf(out, "  %u of %u cores; the energy is that of the whole node%s\n", cores,
                node_cores, text_plural(nodes));
    }
}
