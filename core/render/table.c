/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/table.h"

#include "base/units.h"
#include "render/csv.h"
#include "render/grid.h"

#define TITLES_MAX 32
#define TABLE_CELL_SIZE (2 * UNITS_SIZE + UNITS_SHARE_SIZE)

/* Columns of a text: those with a title. */
static struct grid *table_grid(const struct table_column *columns, size_t count)
{
    struct grid_column titles[TITLES_MAX] = {{0}};
    size_t least[TITLES_MAX] = {0}, shown = 0;
    struct grid *grid;

    for (size_t i = 0; i < count && shown < TITLES_MAX; i++) {
        if (columns[i].title) {
            titles[shown] = (struct grid_column){columns[i].title, columns[i].form > TABLE_TEXT};
            least[shown++] = columns[i].least;
        }
    }
    grid = grid_create(titles, shown);
    for (size_t i = 0; i < shown; i++) {
        if (least[i] > 0) {
            grid_yield(grid, i, least[i], false);
        }
    }
    return grid;
}

struct table table_begin(const struct table_column *columns, size_t count, bool csv, bool titles,
                         FILE *out)
{
    struct table table = {.columns = columns, .count = count, .csv = csv, .out = out};
    const char *separator = "";

    if (!csv) {
        table.grid = table_grid(columns, count);
        return table;
    }
    for (size_t i = 0; i < count && titles; i++) {
        if (columns[i].key) {
            fputs(separator, out);
            csv_put_text(out, columns[i].key);
            separator = ",";
        }
    }
    fputs(titles ? "\n" : "", out);
    return table;
}

static void table_csv_row(const struct table *table, const struct table_cell *cells)
{
    const char *separator = "";

    for (size_t i = 0; i < table->count; i++) {
        const struct table_column *column = &table->columns[i];

        if (!column->key) {
            continue;
        }
        fputs(separator, table->out);
        separator = ",";
        if (column->form <= TABLE_RIGHT) {
            csv_put_text(table->out, cells[i].text);
        } else if (column->form == TABLE_COUNT && isfinite(cells[i].value)) {
            fprintf(table->out, "%.0f", cells[i].value);
        } else if (isfinite(cells[i].value)) {
            fprintf(table->out, "%.9g", cells[i].value);
        }
    }
    fputc('\n', table->out);
}

/* For people. An unknown number is "-". */
static void table_cell_text(const struct table_column *column, const struct table_cell *cell,
                            char *text, size_t size)
{
    char energy[UNITS_SIZE], share[UNITS_SHARE_SIZE];

    switch (column->form) {
    case TABLE_TEXT:
    case TABLE_RIGHT:
        break;
    case TABLE_COUNT:
    case TABLE_NUMBER:
    case TABLE_PERCENT:
        snprintf(text, size, isnan(cell->value) ? "-" : "%.*f%s", column->decimals, cell->value,
                 column->form == TABLE_PERCENT ? " %" : "");
        break;
    case TABLE_QUANTITY:
        units_quantity(text, size, cell->value, column->unit);
        break;
    case TABLE_KNOWN:
        units_known_quantity(text, size, cell->value, cell->uncertainty, column->unit);
        break;
    case TABLE_ENERGY:
        units_known_quantity(energy, sizeof energy, cell->value, cell->uncertainty, "J");
        units_share(share, sizeof share, cell->uncertainty / cell->value);
        snprintf(text, size, "%s%s%s", energy, *share ? " " : "", share);
        break;
    case TABLE_DURATION:
        units_duration(text, size, cell->value);
        break;
    case TABLE_SHORT:
        units_short(text, size, cell->value);
        break;
    }
}

void table_put(const struct table *table, const struct table_cell *cells)
{
    char text[TABLE_CELL_SIZE];

    if (table->csv) {
        table_csv_row(table, cells);
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        if (!table->columns[i].title) {
            continue;
        }
        if (!cells[i].text) {
            table_cell_text(&table->columns[i], &cells[i], text, sizeof text);
        }
        grid_put(table->grid, cells[i].text ? cells[i].text : text);
    }
}

int table_end(struct table *table, const char *heading)
{
    return table->csv ? 0 : grid_finish(table->grid, heading, table->out, terminal_width());
}
