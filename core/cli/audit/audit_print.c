/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/audit/audit_print.h"

#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/audit/audit_result.h"
#include "render/csv.h"
#include "render/grid.h"

#define REASONS_SIZE 1024

struct audit_row audit_page_total(const struct audit_page *page)
{
    struct audit_row total = audit_row_empty();

    for (size_t i = 0; i < page->ledger->row_count; i++) {
        audit_total(&page->ledger->rows[i], &total);
    }
    return total;
}

void audit_day_text(const struct audit_row *row, char *text, size_t size)
{
    timestamp_day(text, size, row->day_ns);
}

/* --- a table -------------------------------------------------------------------------------- */

static const struct grid_column audit_columns[] = {
    {"node", false},      {"day", false},    {"energy", true},
    {"shares", true},     {"idle", true},    {"nobody", true},
    {"unmeasured", true}, {"closure", true}, {"what is missing", false}};

static void audit_put_energy(struct grid *grid, double energy_j)
{
    char text[UNITS_SIZE] = "";

    if (!isnan(energy_j)) {
        units_quantity(text, sizeof text, energy_j, "J");
    }
    grid_put(grid, text);
}

static void audit_put_time(struct grid *grid, double seconds)
{
    char text[UNITS_SIZE] = "";

    if (seconds > 0) {
        units_duration(text, sizeof text, seconds);
    }
    grid_put(grid, text);
}

static void audit_put_cells(const struct audit_ledger *ledger, const struct audit_row *row,
                            struct grid *grid)
{
    const struct audit_result result = audit_evaluate(ledger, row);
    char reasons[REASONS_SIZE];

    audit_reasons_text(&result, reasons, sizeof reasons);
    audit_put_energy(grid, result.sum.hours.energy_j);
    audit_put_energy(grid, result.sum.shares_j);
    audit_put_energy(grid, result.sum.hours.idle_j);
    audit_put_energy(grid, result.sum.hours.unattributed_j);
    audit_put_time(grid, result.unmeasured_s);
    grid_format(grid, isnan(result.closure_pct) ? "" : "%.2f %%", result.closure_pct);
    grid_put(grid, reasons);
}

static void audit_put_row(const struct audit_ledger *ledger, const struct audit_row *row,
                          struct grid *grid)
{
    char day[TIMESTAMP_SIZE];

    audit_day_text(row, day, sizeof day);
    grid_put(grid, pool_text(&ledger->texts, row->node));
    grid_put(grid, day);
    audit_put_cells(ledger, row, grid);
}

int audit_print_table(const struct audit_page *page)
{
    struct grid *grid = grid_create(audit_columns, COUNT_OF(audit_columns));
    const struct audit_row total = audit_page_total(page);

    for (size_t i = 0; i < page->count; i++) {
        audit_put_row(page->ledger, &page->ledger->rows[page->order[i]], grid);
    }
    if (page->ledger->row_count > 1) {
        grid_put(grid, "all");
        grid_put(grid, "");
        audit_put_cells(page->ledger, &total, grid);
    }
    return grid_finish(grid, NULL, stdout, terminal_width());
}

/* --- for programs --------------------------------------------------------------------------- */

static void audit_csv_row(const struct audit_ledger *ledger, const struct audit_row *row)
{
    const struct audit_result result = audit_evaluate(ledger, row);
    char day[TIMESTAMP_SIZE], reasons[REASONS_SIZE];

    audit_day_text(row, day, sizeof day);
    audit_reasons_text(&result, reasons, sizeof reasons);
    csv_put_text(stdout, pool_text(&ledger->texts, row->cluster));
    putchar(',');
    csv_put_text(stdout, pool_text(&ledger->texts, row->node));
    printf(",%s", day);
    csv_put_number_cell(stdout, result.sum.hours.energy_j);
    csv_put_number_cell(stdout, result.sum.shares_j);
    csv_put_number_cell(stdout, result.sum.hours.idle_j);
    csv_put_number_cell(stdout, result.sum.hours.unattributed_j);
    csv_put_number_cell(stdout, result.sum.hours.steps_j);
    csv_put_number_cell(stdout, result.unmeasured_s);
    csv_put_number_cell(stdout, result.closure_pct);
    csv_put_number_cell(stdout, result.idle_w);
    printf(",%llu,%llu,", (unsigned long long)row->records, (unsigned long long)row->shareless);
    csv_put_text(stdout, reasons);
    putchar('\n');
}

int audit_print_csv(const struct audit_page *page)
{
    if (!page->no_header) {
        puts("cluster,node,day,energy_j,shares_j,idle_j,unattributed_j,hours_steps_j,unmeasured_s,"
             "closure_pct,idle_w,records,records_without_share,missing");
    }
    for (size_t i = 0; i < page->count && !ferror(stdout); i++) {
        audit_csv_row(page->ledger, &page->ledger->rows[page->order[i]]);
    }
    return 0;
}
