/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/units.h"
#include "output/table_parts.h"

#define LINES_MAX 20
#define NAME_WIDTH 36
#define NAME_TAIL 20
#define CELL_WIDTH 12

/* The line of domains says it already. */
static bool is_in_domains(const struct apapi_event *event)
{
    return event->domain != APAPI_DOMAIN_NONE &&
           (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER);
}

static bool is_shown(const struct table *table, const struct merge_event *row)
{
    return table->head->verbose || !is_in_domains(&row->event);
}

static void table_events_put_name(FILE *out, const struct apapi_event *event)
{
    const char *mark = event->estimated ? " (estimated)" : "";
    const int width = NAME_WIDTH - (int)strlen(mark);
    char clean[APAPI_NAME_SIZE];
    char text[APAPI_NAME_SIZE];

    text_clean(clean, sizeof(clean), event->name);
    text_shorten(text, sizeof(text), clean, width, NAME_TAIL);
    fprintf(out, "  %s%s%*s", text, mark, width - (int)text_columns(text), "");
}

static void table_events_put_cell(FILE *out, const char *text, int width)
{
    int columns = (int)text_columns(text);

    fprintf(out, "  %*s%s", columns < width ? width - columns : 0, "", text);
}

static void put_gauge(FILE *out, const struct merge_event *row, const char *unit)
{
    const double values[] = {row->covered_s > 0 ? row->weighted / row->covered_s : NAN, row->min,
                             row->max};

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char cell[UNITS_SIZE];
        char clean[UNITS_SIZE];

        units_quantity(cell, sizeof(cell), values[i], unit);
        text_clean(clean, sizeof(clean), cell);
        if (text_columns(clean) > CELL_WIDTH) {
            units_quantity(clean, sizeof(clean), values[i], "");
        }
        table_events_put_cell(out, clean, CELL_WIDTH);
    }
}

static void put_counter(FILE *out, const struct merge_event *row, const char *unit)
{
    char total[UNITS_SIZE];
    char clean[UNITS_SIZE];
    char cell[UNITS_SIZE + 8];

    units_total(total, sizeof(total), row->total, unit);
    text_clean(clean, sizeof(clean), total);
    snprintf(cell, sizeof(cell), "total %s", clean);
    table_events_put_cell(out, cell, 3 * CELL_WIDTH + 4);
}

static const char *table_events_unit_of(const struct merge_event *row)
{
    return row->event.kind == APAPI_KIND_POWER ? "W" : row->event.unit;
}

static void table_events_put_row(FILE *out, const struct merge_event *row)
{
    table_events_put_name(out, &row->event);
    if (row->event.accumulates) {
        put_counter(out, row, table_events_unit_of(row));
    } else {
        put_gauge(out, row, table_events_unit_of(row));
    }
    fputc('\n', out);
}

void table_put_events(const struct table *table)
{
    const struct merge_events *events = &table->merge->events;
    size_t lines = 0;

    for (size_t i = 0; i < events->count; i++) {
        if (!is_shown(table, &events->rows[i])) {
            continue;
        }
        if (lines == 0) {
            fprintf(table->out, "  %-*s  %*s  %*s  %*s\n", NAME_WIDTH, "event", CELL_WIDTH, "mean",
                    CELL_WIDTH, "min", CELL_WIDTH, "max");
        }
        if (lines++ < LINES_MAX) {
            table_events_put_row(table->out, &events->rows[i]);
        }
    }
    if (lines > LINES_MAX || events->full) {
        fprintf(table->out, "  ... and %s%zu more (see the record)\n",
                events->full ? "more than " : "", lines > LINES_MAX ? lines - LINES_MAX : 0);
    }
}
