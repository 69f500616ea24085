/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/json.h"
#include "render/csv.h"

#define CELL_SIZE 4200
#define KEY_SIZE 40
#define GAP 2
#define LEAST_TEXT 6 /* minimum width of a text that is cut */

/* A share has another name than the energy of nodes. */
static bool report_print_is_share(const struct report_printer *printer,
                                  const struct report_field *field)
{
    return printer->shares && field->offset == offsetof(struct report_row, energy_j);
}

static void report_print_key(const struct report_printer *printer, const struct report_field *field,
                             enum report_unit unit, char *key, size_t size)
{
    struct report_field share = *field;

    share.name = report_print_is_share(printer, field) ? "share" : field->name;
    report_field_key(&share, unit, key, size);
}

/* --- a table -------------------------------------------------------------------------------- */

static bool is_left(const struct report_field *field)
{
    return field->kind < REPORT_COUNT;
}

static size_t line_width(const struct report_format *format)
{
    size_t width = 0;

    for (size_t i = 0; i < format->count; i++) {
        width += (size_t)format->columns[i].width + (i > 0 ? GAP : 0);
    }
    return width;
}

static bool report_fit_needed(const struct report_fit *fit, const struct report_format *format)
{
    return fit->width > 0 && line_width(format) > fit->width;
}

/* The width needed by title and rows. */
static size_t natural_width(const struct report_fit *fit, const struct report_format *format,
                            size_t column)
{
    size_t width = strlen(format->columns[column].field->name);

    for (size_t i = column; i < fit->cells.count; i += format->count) {
        size_t columns = text_columns(fit->cells.names[i]);

        width = columns > width ? columns : width;
    }
    return width;
}

static struct report_column *widest_text(struct report_format *format)
{
    struct report_column *widest = NULL;

    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];

        if (is_left(column->field) && !column->given && column->width > LEAST_TEXT &&
            (!widest || column->width > widest->width)) {
            widest = column;
        }
    }
    return widest;
}

/* Numbers are never cut: a column of them is as wide as the widest. */
static void widen_numbers(const struct report_fit *fit, struct report_format *format)
{
    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];
        int natural = (int)natural_width(fit, format, i);

        if (!column->given && !is_left(column->field) && natural > column->width) {
            column->width = natural;
        }
    }
}

static void report_fit_columns(const struct report_fit *fit, struct report_format *format)
{
    struct report_column *widest;

    widen_numbers(fit, format);
    if (!report_fit_needed(fit, format)) {
        return;
    }
    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];
        int natural = (int)natural_width(fit, format, i);

        if (!column->given && natural < column->width) {
            column->width = natural;
        }
    }
    while (report_fit_needed(fit, format) && (widest = widest_text(format))) {
        widest->width--;
    }
}

/* Long texts are cut, numbers are not. The last column has no trailing blanks. */
static void report_print_put_cell(const struct report_printer *printer, size_t index,
                                  const char *text)
{
    const struct report_column *column = &printer->format.columns[index];
    bool left = is_left(column->field), last = index + 1 == printer->format.count;
    char clean[CELL_SIZE], cut[CELL_SIZE];
    size_t columns, width = (size_t)column->width;
    int padding;

    text_clean(clean, sizeof clean, text);
    if (left && width >= 4) {
        text_shorten(cut, sizeof cut, clean, width, 0);
    } else {
        snprintf(cut, sizeof cut, "%s", clean);
    }
    columns = text_columns(cut);
    padding = columns < width ? (int)(width - columns) : 0;
    printf("%s%*s%s", index ? "  " : "", left ? 0 : padding, "", cut);
    printf("%*s", left && !last ? padding : 0, "");
}

static void put_titles(const struct report_printer *printer)
{
    for (size_t i = 0; i < printer->format.count && !printer->no_header; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        report_print_put_cell(printer, i,
                              report_print_is_share(printer, field) ? "share" : field->name);
    }
    fputs(printer->no_header ? "" : "\n", stdout);
}

static void put_kept_rows(struct report_printer *printer)
{
    size_t columns = printer->format.count;

    report_fit_columns(&printer->fit, &printer->format);
    put_titles(printer);
    for (size_t i = 0; columns > 0 && i < printer->fit.cells.count; i++) {
        report_print_put_cell(printer, i % columns, printer->fit.cells.names[i]);
        fputs((i + 1) % columns == 0 ? "\n" : "", stdout);
    }
    namelist_free(&printer->fit.cells);
    printer->keeps = false;
}

static int put_table_row(struct report_printer *printer, const struct report_row *row)
{
    char text[CELL_SIZE];

    for (size_t i = 0; i < printer->format.count; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        report_field_text(field, row, &printer->format, text, sizeof text);
        if (!printer->keeps) {
            report_print_put_cell(printer, i, text);
        } else if (namelist_add(&printer->fit.cells, text)) {
            return -1;
        }
    }
    if (!printer->keeps) {
        putchar('\n');
    } else if (printer->fit.cells.count >= REPORT_FIT_ROWS * printer->format.count) {
        put_kept_rows(printer);
    }
    return 0;
}

/* --- for programs --------------------------------------------------------------------------- */

/* As sacct's -P, which has no quotes. */
static void put_bare(const char *text)
{
    for (; *text; text++) {
        putchar(*text == '|' ? '?' : *text);
    }
}

static void put_plain_row(const struct report_printer *printer, const struct report_row *row)
{
    bool csv = printer->form == REPORT_CSV;
    char text[CELL_SIZE], clean[CELL_SIZE];

    for (size_t i = 0; i < printer->format.count; i++) {
        const struct report_field *field = printer->format.columns[i].field;

        if (row) {
            report_field_plain(field, row, &printer->format, text, sizeof text);
        } else {
            report_print_key(printer, field, printer->format.unit, text, sizeof text);
        }
        if (i > 0) {
            putchar(csv ? ',' : '|');
        }
        if (csv && is_left(field)) {
            csv_put_text(stdout, text);
        } else {
            text_clean(clean, sizeof clean, text);
            put_bare(clean);
        }
    }
    fputs(printer->form == REPORT_PARSABLE ? "|" : "", stdout);
    putchar('\n');
}

static void put_member(struct json_writer *json, const struct report_printer *printer,
                       const struct report_field *field, const struct report_row *row)
{
    const void *value = (const char *)row + field->offset;
    const char *text = report_field_string(field, row);
    char key[KEY_SIZE];

    report_print_key(printer, field, REPORT_UNIT_J, key, sizeof key);
    if (text) {
        json_put_word(json, key, text);
    } else if (field->kind == REPORT_MOMENT) {
        json_put_moment(json, key, *(const int64_t *)value);
    } else if (field->kind == REPORT_FLAG) {
        json_put_flag(json, key, *(const bool *)value);
    } else if (field->kind != REPORT_COUNT) {
        json_put_number(json, key, *(const double *)value,
                        report_field_is_rough(field) ? JSON_ROUGH : JSON_MEASURED);
    } else if (*(const double *)value >= 0) {
        json_put_count(json, key, (uint64_t) * (const double *)value);
    }
}

static int put_json_row(const struct report_printer *printer, const struct report_row *row)
{
    struct json_writer json = {.out = stdout};

    fputs(printer->rows ? ",\n" : "", stdout);
    json_begin_object(&json, NULL);
    for (size_t i = 0; i < printer->format.count; i++) {
        put_member(&json, printer, printer->format.columns[i].field, row);
    }
    json_end(&json);
    return json_flush(&json) && errno == ENOMEM ? -1 : 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static void put_json_head(const struct report_printer *printer)
{
    const char *currency = printer->format.currency;

    printf("{\"version\":1,\"by\":\"%s\",", printer->by);
    if (currency && *currency) {
        struct json_writer json = {.out = stdout};

        fputs("\"currency\":", stdout);
        json_put_text(&json, NULL, currency);
        json_flush(&json);
        putchar(',');
    }
    if (printer->shares) {
        printf("\"energy\":\"share\",");
    }
    if (printer->shared_j > 0) {
        printf("\"shared_j\":%.9g,", printer->shared_j);
    }
    puts("\"rows\":[");
}

void report_print_begin(struct report_printer *printer)
{
    if (printer->form == REPORT_JSON) {
        put_json_head(printer);
    } else if (printer->form == REPORT_TABLE) {
        printer->keeps = true;
    } else if (!printer->no_header) {
        put_plain_row(printer, NULL);
    }
}

int report_print_row(struct report_printer *printer, const struct report_row *row)
{
    int result = 0;

    if (printer->form == REPORT_JSON) {
        result = put_json_row(printer, row);
    } else if (printer->form == REPORT_TABLE) {
        result = put_table_row(printer, row);
    } else {
        put_plain_row(printer, row);
    }
    printer->rows++;
    return result;
}

void report_print_end(struct report_printer *printer)
{
    if (printer->form == REPORT_JSON) {
        fputs("]}\n", stdout);
    } else if (printer->keeps) {
        put_kept_rows(printer);
    }
}
