/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TRACE_TRACE_ROW_H
#define TRACE_TRACE_ROW_H
#include <stdio.h>

#include "trace/ring.h"

#define TRACE_HEADER "run,time_s,event,raw,value,unit,power_w,error,estimated\n"

/** What is kept of each event to calculate its power. All zero at the start. */
struct trace_rows {
    struct trace_event *events;
    size_t count, room;
    size_t next; /* where the next event is probably found */
};

/** Write a row as a line of CSV. If memory is short, the power is omitted. */
void trace_rows_put(struct trace_rows *rows, const struct ring_row *row, FILE *file);

/** Free what it owns. */
void trace_rows_clear(struct trace_rows *rows);

#endif
