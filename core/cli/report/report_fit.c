/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_fit.h"

#include <string.h>

#include "base/text.h"

#define GAP 2
#define LEAST_TEXT 6 /* minimum width of a text that is cut */

static size_t line_width(const struct report_format *format)
{
    size_t width = 0;

    for (size_t i = 0; i < format->count; i++) {
        width += (size_t)format->columns[i].width + (i > 0 ? GAP : 0);
    }
    return width;
}

bool report_fit_needed(const struct report_fit *fit, const struct report_format *format)
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

static bool is_text(const struct report_column *column)
{
    return column->field->kind < REPORT_COUNT;
}

static struct report_column *widest_text(struct report_format *format)
{
    struct report_column *widest = NULL;

    for (size_t i = 0; i < format->count; i++) {
        struct report_column *column = &format->columns[i];

        if (is_text(column) && !column->given && column->width > LEAST_TEXT &&
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

        if (!column->given && !is_text(column) && natural > column->width) {
            column->width = natural;
        }
    }
}

void report_fit_columns(const struct report_fit *fit, struct report_format *format)
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
