/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a step, added up by name. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sum/merge_parts.h"

#define ROWS_MAX 256 /* a report shows a few of them */

static bool is_same_event(const struct merge_event *row, const struct apapi_event *event,
                          uint32_t hash)
{
    return row->hash == hash && row->event.estimated == event->estimated &&
           strcmp(row->event.name, event->name) == 0;
}

/* NULL with errno ENOMEM, or ENOSPC: too many. */
static struct merge_event *merge_events_find(struct merge_events *events,
                                             const struct apapi_event *event)
{
    uint32_t hash = merge_hash(event->name);
    for (size_t i = 0; i < events->count; i++) {
        size_t index = (events->next + i) % events->count;

        if (is_same_event(&events->rows[index], event, hash)) {
            events->next = index + 1;
            return &events->rows[index];
        }
    }
    if (events->count == ROWS_MAX) {
        events->full = true;
        errno = ENOSPC;
        return NULL;
    }
    if (array_add(&events->rows, events->count, &events->capacity, sizeof(*events->rows))) {
        return NULL;
    }
    events->rows[events->count] = (struct merge_event){*event, hash, 0, NAN, 0, 0, NAN, NAN};
    return &events->rows[events->count++];
}

static int merge_events_add_event(struct merge_events *events,
                                  const struct apapi_event_result *result)
{
    struct merge_event *row = merge_events_find(events, &result->event);

    if (!row) {
        return errno == ENOSPC ? 0 : -1;
    }
    row->nodes++;
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

int merge_events_add(struct merge_events *events, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            const struct apapi_event_result *result = &m->components[i].events[k];

            if (!result->stuck && merge_events_add_event(events, result) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

void merge_events_clear(struct merge_events *events)
{
    free(events->rows);
    *events = (struct merge_events){0};
}
