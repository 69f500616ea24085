/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/trace_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct trace_event {
    const struct apapi_event *event;
    unsigned run;
    bool believed;
    uint64_t believed_ns; /* time of the last accepted value */
    bool read;
    uint64_t read_ns; /* time of the last reading, accepted or not */
    uint64_t raw;     /* its raw value */
};

static struct trace_event *trace_row_append(struct trace_rows *rows,
                                            const struct apapi_event *event)
{
    if (array_add(&rows->events, rows->count, &rows->room, sizeof *rows->events)) {
        return NULL;
    }
    rows->events[rows->count] = (struct trace_event){.event = event};
    return &rows->events[rows->count++];
}

static struct trace_event *trace_row_find(struct trace_rows *rows, const struct apapi_event *event)
{
    for (size_t i = 0; i < rows->count; i++) {
        size_t index = (rows->next + i) % rows->count;

        if (rows->events[index].event == event) {
            rows->next = index + 1;
            return &rows->events[index];
        }
    }
    return trace_row_append(rows, event);
}

static double as_double(uint64_t raw)
{
    double value;

    memcpy(&value, &raw, sizeof value);
    return value;
}

/* The counter's increment since the last reading, if it only increased. */
static double since_read(const struct trace_event *last, const struct ring_row *row)
{
    const struct apapi_event *event = row->event;

    if (event->type == APAPI_TYPE_FP64) {
        return (as_double(row->raw) - as_double(last->raw)) * event->scale;
    }
    return row->raw >= last->raw ? (double)(row->raw - last->raw) * event->scale : NAN;
}

/*
 * The time in which `row->value` was counted [ns]: since the last reading if that explains it, as
 * after the first reading and after a reset; otherwise since the last accepted one.
 */
static uint64_t span_ns(const struct trace_event *last, const struct ring_row *row)
{
    bool explained =
        last->read && fabs(since_read(last, row) - row->value) <= 1e-9 * fabs(row->value);

    if (last->read && (explained || !last->believed)) {
        return row->time_ns - last->read_ns;
    }
    return last->believed ? row->time_ns - last->believed_ns : 0;
}

static double power_w(const struct trace_event *last, const struct ring_row *row)
{
    const struct apapi_event *event = row->event;
    uint64_t dt_ns;

    if (event->kind == APAPI_KIND_POWER && !event->accumulates) {
        return row->value;
    }
    if (event->kind != APAPI_KIND_ENERGY || !event->accumulates || !last || isnan(row->value)) {
        return NAN;
    }
    dt_ns = span_ns(last, row);
    return dt_ns ? row->value / ((double)dt_ns / 1e9) : NAN;
}

static void trace_row_remember(struct trace_event *last, const struct ring_row *row)
{
    if (row->error) {
        last->read = false;
        return;
    }
    last->read = true;
    last->read_ns = row->time_ns;
    last->raw = row->raw;
    if (!isnan(row->value)) {
        last->believed = true;
        last->believed_ns = row->time_ns;
    }
}

static void put_raw(FILE *file, const struct ring_row *row)
{
    switch (row->event->type) {
    case APAPI_TYPE_FP64:
        fprintf(file, ",%.17g", as_double(row->raw));
        break;
    case APAPI_TYPE_INT64:
        fprintf(file, ",%" PRId64, (int64_t)row->raw);
        break;
    default:
        fprintf(file, ",%" PRIu64, row->raw);
        break;
    }
}

static void trace_row_put_number(FILE *file, double number)
{
    fputc(',', file);
    if (isfinite(number)) {
        fprintf(file, "%.9g", number);
    }
}

static void trace_row_put_name(FILE *file, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        fprintf(file, ",%s", name);
        return;
    }
    fputs(",\"", file);
    for (; *name; name++) {
        fprintf(file, *name == '"' ? "\"%c" : "%c", *name);
    }
    fputc('"', file);
}

void trace_rows_put(struct trace_rows *rows, const struct ring_row *row, FILE *file)
{
    struct trace_event *last = trace_row_find(rows, row->event);

    if (last && last->run != row->run) {
        *last = (struct trace_event){.event = row->event, .run = row->run};
    }
    fprintf(file, "%u,%" PRIu64 ".%09" PRIu64, row->run, row->time_ns / 1000000000,
            row->time_ns % 1000000000);
    trace_row_put_name(file, row->event->name);
    if (row->error) {
        fprintf(file, ",,,%s,,%s", row->event->unit, strerror(row->error));
    } else {
        put_raw(file, row);
        trace_row_put_number(file, row->value);
        trace_row_put_name(file, row->event->unit);
        trace_row_put_number(file, power_w(last, row));
        fputc(',', file);
    }
    fprintf(file, ",%d\n", row->event->estimated);
    if (last) {
        trace_row_remember(last, row);
    }
}

void trace_rows_clear(struct trace_rows *rows)
{
    free(rows->events);
    *rows = (struct trace_rows){0};
}
