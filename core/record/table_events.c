/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

#define LINES_MAX 20
#define NAME_WIDTH 36
#define NAME_TAIL 20
#define CELL_WIDTH 12

/* One event on all nodes of the step. */
struct event_row {
    const struct apapi_event *event; /* borrowed from the merge */
    double total;
    double weighted; /* mean x covered time, added up */
    double covered_s;
    double min;
    double max;
};

struct event_rows {
    struct event_row *rows;
    size_t count;
    size_t capacity;
    size_t next; /* where the next one is likely found: all nodes have the same order */
};

static bool is_shown(const struct table *table, const struct apapi_event_result *result)
{
    return (table->head->verbose || !table_is_in_domains(&result->event)) && !result->stuck;
}

static struct event_row *append(struct event_rows *rows)
{
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 16;
        struct event_row *grown = reallocarray(rows->rows, capacity, sizeof(*grown));

        if (!grown) {
            return NULL;
        }
        rows->rows = grown;
        rows->capacity = capacity;
    }
    return &rows->rows[rows->count++];
}

static struct event_row *find(struct event_rows *rows, const struct apapi_event *event)
{
    struct event_row *row;

    for (size_t i = 0; i < rows->count; i++) {
        size_t place = (rows->next + i) % rows->count;

        if (strcmp(rows->rows[place].event->name, event->name) == 0) {
            rows->next = place + 1;
            return &rows->rows[place];
        }
    }
    row = append(rows);
    if (row) {
        *row = (struct event_row){event, NAN, 0, 0, NAN, NAN};
    }
    return row;
}

static int add_event(struct event_rows *rows, const struct apapi_event_result *result)
{
    struct event_row *row = find(rows, &result->event);

    if (!row) {
        return -1;
    }
    if (!isnan(result->total)) {
        row->total = isnan(row->total) ? result->total : row->total + result->total;
    }
    if (!isnan(result->summary.mean)) {
        double covered_s = (double)result->covered_ns / 1e9;

        row->weighted += result->summary.mean * covered_s;
        row->covered_s += covered_s;
    }
    row->min = fmin(row->min, result->summary.min);
    row->max = fmax(row->max, result->summary.max);
    return 0;
}

static int collect_component(struct event_rows *rows, const struct table *table,
                             const struct apapi_component_result *component)
{
    for (size_t i = 0; i < component->event_count; i++) {
        if (is_shown(table, &component->events[i]) && add_event(rows, &component->events[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int collect(struct event_rows *rows, const struct table *table)
{
    for (size_t i = 0; i < table->recorded; i++) {
        const struct apapi_measurement *m = &table->nodes[i]->record.measurement;

        for (size_t k = 0; k < m->component_count; k++) {
            if (collect_component(rows, table, &m->components[k]) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static void put_name(FILE *out, const char *name)
{
    char clean[APAPI_NAME_SIZE];
    char text[APAPI_NAME_SIZE];

    text_clean(clean, sizeof(clean), name);
    text_shorten(text, sizeof(text), clean, NAME_WIDTH, NAME_TAIL);
    fprintf(out, "  %s%*s", text, NAME_WIDTH - (int)text_columns(text), "");
}

static void put_cell(FILE *out, const char *text, int width)
{
    int columns = (int)text_columns(text);

    fprintf(out, "  %*s%s", columns < width ? width - columns : 0, "", text);
}

static void put_gauge(FILE *out, const struct event_row *row, const char *unit)
{
    const double values[] = {row->covered_s > 0 ? row->weighted / row->covered_s : NAN, row->min,
                             row->max};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char cell[UNITS_SIZE];
        char clean[UNITS_SIZE];

        units_quantity(cell, sizeof(cell), values[i], unit);
        text_clean(clean, sizeof(clean), cell);
        if (text_columns(clean) > CELL_WIDTH) {
            units_quantity(clean, sizeof(clean), values[i], "");
        }
        put_cell(out, clean, CELL_WIDTH);
    }
}

static void put_counter(FILE *out, const struct event_row *row, const char *unit)
{
    char total[UNITS_SIZE];
    char clean[UNITS_SIZE];
    char cell[UNITS_SIZE + 8];

    units_total(total, sizeof(total), row->total, unit);
    text_clean(clean, sizeof(clean), total);
    snprintf(cell, sizeof(cell), "total %s", clean);
    put_cell(out, cell, 3 * CELL_WIDTH + 4);
}

static const char *unit_of(const struct event_row *row)
{
    return row->event->kind == APAPI_KIND_POWER ? "W" : row->event->unit;
}

static void put_row(FILE *out, const struct event_row *row)
{
    put_name(out, row->event->name);
    if (row->event->accumulates) {
        put_counter(out, row, unit_of(row));
    } else {
        put_gauge(out, row, unit_of(row));
    }
    fputc('\n', out);
}

static void put_rows(FILE *out, const struct event_rows *rows)
{
    if (rows->count > 0) {
        fprintf(out, "  %-*s  %*s  %*s  %*s\n", NAME_WIDTH, "event", CELL_WIDTH, "mean", CELL_WIDTH,
                "min", CELL_WIDTH, "max");
    }
    for (size_t i = 0; i < rows->count && i < LINES_MAX; i++) {
        put_row(out, &rows->rows[i]);
    }
    if (rows->count > LINES_MAX) {
        fprintf(out, "  ... and %zu more (see the record)\n", rows->count - LINES_MAX);
    }
}

int table_put_events(const struct table *table)
{
    struct event_rows rows = {0};
    int rc = collect(&rows, table);

    if (rc == 0) {
        put_rows(table->out, &rows);
    }
    free(rows.rows);
    return rc;
}
