/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "sum/merge.h"

/* --- lines of a terminal -------------------------------------------------------------------- */

#define INDENT 2
#define LAST_MIN 12     /* the last column is omitted if it would be narrower */
#define FIELD_SIZE 4200 /* of a text; longer ones are cut */

/* The cells of a text that are not printed yet, row by row; each row has a cell per column. */
struct table_text {
    struct namelist cells;
    size_t *widths; /* of columns; NULL: nothing is printed yet */
    bool failed;    /* memory ran out */
};

static size_t row_count(const struct table *table)
{
    return table->text->cells.count / table->count;
}

static const char *cell_at(const struct table *table, size_t row, size_t column)
{
    return table->text->cells.names[row * table->count + column];
}

/* @param narrow  the terminal is narrow. @return the width; 0: all cells are empty */
static size_t column_width(const struct table *table, size_t index, bool narrow)
{
    const struct table_column *column = &table->columns[index];
    size_t widest = column->kept, least = narrow ? 0 : column->width;

    for (size_t row = 0; column->title && row < row_count(table); row++) {
        size_t width = text_columns(cell_at(table, row, index));

        widest = width > widest ? width : widest;
    }
    least = column->title && strlen(column->title) > least ? strlen(column->title) : least;
    widest = widest > 0 && least > widest ? least : widest;
    return column->most > 0 && widest > column->most ? column->most : widest;
}

static size_t gap_before(const struct table *table, size_t column)
{
    return table->columns[column].gap ? table->columns[column].gap : 2;
}

static size_t least_of(const struct table *table, const size_t *widths, size_t column)
{
    size_t least = table->columns[column].least;

    least = least > 0 ? least : column == table->last ? LAST_MIN : TABLE_WHOLE;
    return least < widths[column] ? least : widths[column];
}

/* @return width of a line without trailing blanks. */
static size_t used_width(const struct table *table, const size_t *widths, bool cut)
{
    size_t used = table->indent;

    for (size_t i = 0; i < table->count; i++) {
        if (widths[i] > 0) {
            used += used > table->indent ? gap_before(table, i) : 0;
            used += cut ? least_of(table, widths, i) : widths[i];
        }
    }
    return used;
}

/* Omit as few columns as possible, the last ones first; then cut others, the first ones least. */
static void fit(const struct table *table, size_t *widths, size_t width)
{
    size_t used;

    for (size_t i = 0; i < table->count; i++) {
        widths[i] = column_width(table, i, true);
    }
    for (size_t i = table->count; i-- > 0 && used_width(table, widths, true) > width;) {
        const struct table_column *column = &table->columns[i];

        if (column->optional || (i == table->last && !column->least)) {
            widths[i] = 0;
        }
    }
    used = used_width(table, widths, false);
    for (size_t i = table->count; i-- > 0 && used > width;) {
        size_t least = least_of(table, widths, i);
        size_t cut = widths[i] - least < used - width ? widths[i] - least : used - width;

        widths[i] -= cut;
        used -= cut;
    }
}

/*
 * Numbers are never cut: a longer one reaches into the empty cells before it. No line has trailing
 * blanks. @param row  SIZE_MAX: the titles
 */
static void put_row(const struct table *table, size_t row, const size_t *widths)
{
    size_t blanks = table->indent;
    char cut[FIELD_SIZE];
    bool first = true;

    for (size_t i = 0; i < table->count; i++) {
        bool right = table->columns[i].form > TABLE_TEXT;
        const char *text = row == SIZE_MAX ? table->columns[i].title : cell_at(table, row, i);
        size_t columns = widths[i] > 0 ? text_columns(text) : 0;
        size_t padding = columns < widths[i] ? widths[i] - columns : 0;
        size_t beyond =
            right && table->columns[i].most && columns > widths[i] ? columns - widths[i] : 0;

        if (widths[i] == 0) {
            continue;
        }
        blanks -= beyond < blanks ? beyond : blanks;
        blanks += (first ? 0 : gap_before(table, i)) + (right ? padding : 0);
        first = false;
        if (*text) {
            text_shorten(cut, sizeof cut, text, right ? SIZE_MAX : widths[i], 0);
            fprintf(table->out, "%*s%s", (int)blanks, "", cut);
            blanks = 0;
        }
        blanks += right ? 0 : padding;
    }
    fputc('\n', table->out);
}

static size_t *find_widths(const struct table *table)
{
    size_t *widths = calloc(table->count, sizeof *widths);

    for (size_t i = 0; widths && i < table->count; i++) {
        widths[i] = column_width(table, i, false);
    }
    if (widths && table->width > 0 && used_width(table, widths, false) > table->width) {
        fit(table, widths, table->width);
    }
    return widths;
}

static void print_rows(const struct table *table)
{
    struct table_text *text = table->text;

    if (!text->widths && row_count(table) > 0) {
        text->widths = find_widths(table);
        text->failed = !text->widths;
        if (table->titles && !text->failed) {
            put_row(table, SIZE_MAX, text->widths);
        }
    }
    for (size_t row = 0; row < row_count(table) && !text->failed; row++) {
        put_row(table, row, text->widths);
    }
    namelist_free(&text->cells);
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

size_t terminal_height(void)
{
    struct winsize window;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 ? window.ws_row : 0;
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

#define FORMULA "=+-@" /* characters that start a formula */

void table_put_text(FILE *out, enum table_output output, const char *text)
{
    bool csv = output == TABLE_CSV;
    char clean[FIELD_SIZE];
    const char *quote;

    text_clean(clean, sizeof clean, text);
    quote = csv && strpbrk(clean, ",\"") ? "\"" : "";
    fprintf(out, "%s%s", quote, csv && *clean && strchr(FORMULA, *clean) ? "'" : "");
    for (const char *at = clean; *at; at++) {
        fputs(csv && *at == '"' ? "\"" : "", out);
        fputc(*at == '|' && !csv ? '?' : *at, out);
    }
    fputs(quote, out);
}

/* @param cells  NULL: the keys */
static void put_for_programs(const struct table *table, const struct table_cell *cells)
{
    const char *separator = "";

    for (size_t i = 0; i < table->count; i++) {
        const struct table_column *column = &table->columns[i];
        bool number = cells && column->form >= TABLE_COUNT;

        if (!column->key) {
            continue;
        }
        fputs(separator, table->out);
        separator = table->output == TABLE_CSV ? "," : "|";
        if (!number) {
            table_put_text(table->out, table->output, cells ? cells[i].text : column->key);
        } else if (isfinite(cells[i].value)) {
            fprintf(table->out,
                    column->form == TABLE_COUNT ? "%.0f"
                    : column->rough             ? "%.6g"
                                                : "%.9g",
                    cells[i].value);
        }
    }
    fputc('\n', table->out);
}

struct table table_begin(const struct table_column *columns, size_t count, enum table_output output,
                         bool titles, FILE *out)
{
    struct table table = {.columns = columns,
                          .count = count,
                          .output = output,
                          .titles = titles,
                          .out = out,
                          .indent = INDENT};

    if (output == TABLE_FOR_PEOPLE) {
        table.width = terminal_width();
        table.text = calloc(1, sizeof *table.text);
        for (size_t i = 0; i < count; i++) {
            table.last = columns[i].title ? i : table.last;
        }
    } else if (titles) {
        put_for_programs(&table, NULL);
    }
    return table;
}

/* @return a number as text for people; "-" for an unknown one. */
static struct units_text table_cell_text(const struct table_column *column,
                                         const struct table_cell *cell)
{
    switch (column->form) {
    case TABLE_QUANTITY:
        return units_quantity(cell->value, column->unit);
    case TABLE_KNOWN:
        return units_known_quantity(cell->value, cell->uncertainty, column->unit);
    case TABLE_ENERGY:
        return units_energy(cell->value, cell->uncertainty, true);
    case TABLE_DURATION:
        return units_duration(cell->value);
    case TABLE_SHORT:
        return units_short(cell->value);
    default:
        return units_part(column->form >= TABLE_COUNT, isnan(cell->value) ? "-" : "%.*f%s",
                          column->decimals, cell->value, column->form == TABLE_PERCENT ? " %" : "");
    }
}

void table_put(const struct table *table, const struct table_cell *cells)
{
    struct table_text *list = table->text;

    if (table->output != TABLE_FOR_PEOPLE) {
        put_for_programs(table, cells);
    }
    for (size_t i = 0; list && !list->failed && i < table->count; i++) {
        struct units_text text;
        const char *cell = table->columns[i].title ? cells[i].text : "";

        if (!cell) {
            text = table_cell_text(&table->columns[i], &cells[i]);
            cell = text.text;
        }
        list->failed = namelist_add(&list->cells, cell) != 0;
        if (!list->failed) {
            text_clean(list->cells.names[list->cells.count - 1], strlen(cell) + 1, cell);
        }
    }
    if (list && !list->failed && table->fit_rows > 0 &&
        list->cells.count >= table->fit_rows * table->count) {
        print_rows(table);
    }
}

int table_end(struct table *table, const char *heading)
{
    struct table_text *text = table->text;
    bool good = table->output != TABLE_FOR_PEOPLE || (text && !text->failed);

    if (good && text) {
        fprintf(table->out, "%s%s", heading ? heading : "", heading ? "\n" : "");
        print_rows(table);
        good = !text->failed;
    }
    if (text) {
        namelist_free(&text->cells);
        free(text->widths);
        free(text);
    }
    return good ? 0 : -1;
}

void json_put_word(struct json_writer *json, const char *key, const char *text)
{
    if (*text) {
        json_put_text(json, key, text);
    }
}

void table_write_cells(struct json_writer *json, const struct table_column *columns, size_t count,
                       const struct table_cell *cells)
{
    for (size_t i = 0; i < count; i++) {
        const struct table_column *column = &columns[i];
        bool rough = column->rough || column->form == TABLE_QUANTITY;

        if (!column->key) {
            continue;
        }
        if (column->form == TABLE_FLAG) {
            json_put_flag(json, column->key, cells[i].value > 0);
        } else if (column->form == TABLE_COUNT && cells[i].value >= 0) {
            json_put_count(json, column->key, (uint64_t)cells[i].value);
        } else if (column->form > TABLE_COUNT) {
            json_put_number(json, column->key, cells[i].value, rough ? JSON_ROUGH : JSON_MEASURED);
        } else if (column->form < TABLE_FLAG) {
            json_put_word(json, column->key, cells[i].text);
        }
    }
}

/* --- doubt ------------------------------------------------------------------------------------ */

#define POSSIBLE_SHARE 0.05
#define SHORT_READINGS 30

/*
 * A domain that has a counter of energy has its energy from that.
 * @return whether some of the step's energy is the integral of a power meter's readings
 */
static bool is_of_gauges(const struct apapi_merge *merge, bool node_alone)
{
    bool counters[APAPI_DOMAINS] = {false}, gauges[APAPI_DOMAINS] = {false}, found = false;

    for (size_t i = 0; i < merge->event_rows.keys.count; i++) {
        const struct apapi_event *event = &merge->events[i].event;

        counters[event->domain] |= event->kind == APAPI_KIND_ENERGY && event->accumulates;
        gauges[event->domain] |= event->kind == APAPI_KIND_POWER && !event->accumulates;
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        found |= gauges[d] && !counters[d] &&
                 (d == APAPI_DOMAIN_NODE ? node_alone : apapi_domain_adds_up(d));
    }
    return found;
}

void table_put_doubt(const struct apapi_merge *merge, bool node_alone, double share, FILE *out)
{
    double readings = merge->samples.least + 1;

    if (merge->incidents.rough > 0 && share > POSSIBLE_SHARE) {
        fprintf(out, "  %s%.0f readings%s: errors above 5 %% are possible\n",
                readings < SHORT_READINGS ? "short run, " : "", readings,
                is_of_gauges(merge, node_alone) ? " of a power meter" : "");
    }
}
