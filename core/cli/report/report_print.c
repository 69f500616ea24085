/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_print.h"

#include <errno.h>
#include <stdlib.h>

#include "base/text.h"
#include "record/fields.h"
#include "render/csv.h"

#define CELL_SIZE 4200
#define KEY_SIZE 40

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
    for (size_t i = 0; i < printer->fit.cells.count; i++) {
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

static int put_member(json_t *object, const struct report_printer *printer,
                      const struct report_field *field, const struct report_row *row)
{
    const void *value = (const char *)row + field->offset;
    const char *text = report_field_string(field, row);
    char key[KEY_SIZE];

    report_print_key(printer, field, REPORT_UNIT_J, key, sizeof key);
    if (text) {
        return *text ? field_put_text(object, key, text) : 0;
    }
    switch (field->kind) {
    case REPORT_MOMENT:
        return field_put_moment(object, key, *(const int64_t *)value);
    case REPORT_FLAG:
        return field_put(object, key, json_boolean(*(const bool *)value));
    case REPORT_COUNT:
        return *(const double *)value >= 0
                   ? field_put_count(object, key, (uint64_t) * (const double *)value)
                   : 0;
    default:
        return field_put_rounded(object, key, *(const double *)value,
                                 report_field_is_rough(field) ? FIELD_ROUGH_FIGURES
                                                              : FIELD_MEASURED_FIGURES);
    }
}

static int put_json_row(const struct report_printer *printer, const struct report_row *row)
{
    json_t *object = json_object();
    char *text;
    int result = 0;

    for (size_t i = 0; i < printer->format.count && result == 0; i++) {
        result = put_member(object, printer, printer->format.columns[i].field, row);
    }
    text = fields_text(object, result);
    if (!text) {
        errno = ENOMEM;
        return -1;
    }
    printf("%s%s", printer->rows ? ",\n" : "", text);
    free(text);
    return 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static void put_json_head(const struct report_printer *printer)
{
    const char *currency = printer->format.currency;

    printf("{\"version\":1,\"by\":\"%s\",", printer->by);
    if (currency && *currency) {
        json_t *value = json_string(currency);
        char *text = value ? fields_dump(value, JSON_ENCODE_ANY) : NULL;

        if (text) {
            printf("\"currency\":%s,", text);
        }
        free(text);
        json_decref(value);
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
