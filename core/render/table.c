/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "render/csv.h"

/* --- lines of a terminal -------------------------------------------------------------------- */

#define INDENT 2
#define GAP 2
#define LAST_MIN 12 /* the last column is omitted if it would be narrower */

/* How a column is reduced on a narrow terminal. */
struct give {
    size_t least;  /* minimum width; GRID_WHOLE: it is never cut */
    bool optional; /* it may be omitted */
};

struct grid {
    struct grid_column *columns;
    struct give *gives;
    size_t column_count;
    struct namelist cells;
    bool failed; /* memory ran out */
};

struct grid *grid_create(const struct grid_column *columns, size_t count)
{
    struct grid *grid = count > 0 ? calloc(1, sizeof *grid) : NULL;

    if (!grid) {
        return NULL;
    }
    grid->columns = calloc(count, sizeof *grid->columns);
    grid->gives = calloc(count, sizeof *grid->gives);
    if (!grid->columns || !grid->gives) {
        free(grid->columns);
        free(grid->gives);
        free(grid);
        return NULL;
    }
    memcpy(grid->columns, columns, count * sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        grid_yield(grid, i, GRID_WHOLE, false);
    }
    grid_yield(grid, count - 1, LAST_MIN, true);
    grid->column_count = count;
    return grid;
}

void grid_yield(struct grid *grid, size_t column, size_t least, bool optional)
{
    if (grid) {
        grid->gives[column] = (struct give){least, optional};
    }
}

void grid_put(struct grid *grid, const char *text)
{
    if (!grid || grid->failed) {
        return;
    }
    grid->failed = namelist_add(&grid->cells, text) != 0;
    if (!grid->failed) {
        text_clean(grid->cells.names[grid->cells.count - 1], strlen(text) + 1, text);
    }
}

void grid_format(struct grid *grid, const char *format, ...)
{
    char text[GRID_FORMAT_SIZE];
    va_list values;

    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    grid_put(grid, text);
}

static size_t row_count(const struct grid *grid)
{
    return grid->cells.count / grid->column_count;
}

static const char *cell_at(const struct grid *grid, size_t row, size_t column)
{
    return grid->cells.names[row * grid->column_count + column];
}

/* @return 0: all cells are empty. */
static size_t column_width(const struct grid *grid, size_t column)
{
    size_t widest = 0;

    for (size_t row = 0; row < row_count(grid); row++) {
        size_t width = text_columns(cell_at(grid, row, column));

        widest = width > widest ? width : widest;
    }
    if (widest > 0 && strlen(grid->columns[column].title) > widest) {
        widest = strlen(grid->columns[column].title);
    }
    return widest;
}

static size_t least_of(const struct grid *grid, const size_t *widths, size_t column)
{
    size_t least = grid->gives[column].least;

    return least < widths[column] ? least : widths[column];
}

/* Width of a line without trailing blanks. */
static size_t used_width(const struct grid *grid, const size_t *widths, bool cut)
{
    size_t used = INDENT, gap = 0;

    for (size_t i = 0; i < grid->column_count; i++) {
        if (widths[i] > 0) {
            used += gap + (cut ? least_of(grid, widths, i) : widths[i]);
            gap = GAP;
        }
    }
    return used;
}

/* Omit as few columns as possible, the last ones first; then cut others, the first ones least. */
static void fit(const struct grid *grid, size_t *widths, size_t width)
{
    size_t used;

    for (size_t i = grid->column_count; i-- > 0 && used_width(grid, widths, true) > width;) {
        if (grid->gives[i].optional) {
            widths[i] = 0;
        }
    }
    used = used_width(grid, widths, false);
    for (size_t i = grid->column_count; i-- > 0 && used > width;) {
        size_t least = least_of(grid, widths, i);
        size_t cut = widths[i] - least < used - width ? widths[i] - least : used - width;

        widths[i] -= cut;
        used -= cut;
    }
}

static void grid_put_text(FILE *out, const char *text, size_t width)
{
    char *cut;

    if (text_columns(text) <= width) {
        fputs(text, out);
        return;
    }
    cut = malloc(strlen(text) + 4);
    if (cut) {
        text_shorten(cut, strlen(text) + 4, text, width, 0);
        fputs(cut, out);
    }
    free(cut);
}

/* No line has trailing blanks. @param row  SIZE_MAX: the titles */
static void grid_put_row(const struct grid *grid, FILE *out, size_t row, const size_t *widths)
{
    size_t blanks = INDENT;

    for (size_t i = 0; i < grid->column_count; i++) {
        const struct grid_column *column = &grid->columns[i];
        const char *text = row == SIZE_MAX ? column->title : cell_at(grid, row, i);
        size_t columns = text_columns(text);
        size_t padding = columns < widths[i] ? widths[i] - columns : 0;

        if (widths[i] == 0) {
            continue;
        }
        blanks += column->right ? padding : 0;
        if (*text) {
            fprintf(out, "%*s", (int)blanks, "");
            grid_put_text(out, text, widths[i]);
            blanks = 0;
        }
        blanks += (column->right ? 0 : padding) + GAP;
    }
    fputc('\n', out);
}

static void grid_print(const struct grid *grid, FILE *out, size_t width)
{
    size_t *widths = calloc(grid->column_count, sizeof *widths);

    if (!widths || row_count(grid) == 0) {
        free(widths);
        return;
    }
    for (size_t i = 0; i < grid->column_count; i++) {
        widths[i] = column_width(grid, i);
    }
    if (width > 0) {
        fit(grid, widths, width);
    }
    grid_put_row(grid, out, SIZE_MAX, widths);
    for (size_t row = 0; row < row_count(grid); row++) {
        grid_put_row(grid, out, row, widths);
    }
    free(widths);
}

int grid_finish(struct grid *grid, const char *title, FILE *out, size_t width)
{
    int result = grid && !grid->failed ? 0 : -1;

    if (result == 0) {
        fprintf(out, "%s%s", title ? title : "", title ? "\n" : "");
        grid_print(grid, out, width);
    }
    if (grid) {
        namelist_free(&grid->cells);
        free(grid->columns);
        free(grid->gives);
        free(grid);
    }
    return result;
}

size_t terminal_width(void)
{
    const char *columns = secure_getenv("COLUMNS");
    unsigned long width = columns ? positive_number(columns, 10000) : 0;
    struct winsize window;

    if (width > 0) {
        return width;
    }
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

void terminal_put(FILE *out, const char *text, size_t indent, size_t width)
{
    char clean[1024];
    size_t column = indent;

    text_clean(clean, sizeof clean, text);
    for (const char *word = clean; *(word += strspn(word, " "));) {
        size_t bytes = strcspn(word, " ");
        size_t columns = bytes; /* for ASCII; with other characters the line breaks early */

        if (column > indent && width > 0 && column + 1 + columns > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", (int)bytes, word);
        column += columns;
        word += bytes;
    }
    fputc('\n', out);
}

/* --- columns and rows ----------------------------------------------------------------------- */

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
        units_known_quantity(text, size, cell->value, cell->uncertainty, "J");
        units_beside(text, size, cell->uncertainty / cell->value, true);
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
