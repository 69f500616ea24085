/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/crossing.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

static bool crossing_is_same(const struct apapi_crossing *left, const struct apapi_crossing *right)
{
    return strcmp(left->threshold, right->threshold) == 0;
}

bool crossing_is_last(const struct apapi_record *record, size_t index)
{
    for (size_t i = index + 1; i < record->crossing_count; i++) {
        if (crossing_is_same(&record->crossing[i], &record->crossing[index])) {
            return false;
        }
    }
    return true;
}

size_t crossing_first(const struct apapi_record *record, size_t index)
{
    size_t first = 0;

    while (!crossing_is_same(&record->crossing[first], &record->crossing[index])) {
        first++;
    }
    return first;
}

/* Since the start of the measurement. */
static void crossing_time(const struct apapi_record *record, size_t index, char *text, size_t size)
{
    int64_t since_ns = record->crossing[index].unix_ns - record->measurement.start_unix_ns;

    units_duration(text, size, since_ns > 0 ? (double)since_ns / 1e9 : 0);
}

void crossing_text(const struct apapi_record *record, size_t index, char *text, size_t size)
{
    const struct apapi_crossing *last = &record->crossing[index];
    char first_at[UNITS_SIZE], last_at[UNITS_SIZE], value[UNITS_SIZE], times[128] = "";

    crossing_time(record, crossing_first(record, index), first_at, sizeof first_at);
    crossing_time(record, index, last_at, sizeof last_at);
    if (*last->unit) {
        units_quantity(value, sizeof value, last->value, last->unit);
    } else {
        snprintf(value, sizeof value, "%.6g", last->value);
    }
    if (last->count > 1) {
        snprintf(times, sizeof times, "%" PRIu64 " times, first at %s, last ", last->count,
                 first_at);
    }
    snprintf(text, size, "%sat %s with %s%s%s", times, last_at, value,
             *last->action || *last->result ? "; " : "",
             *last->result ? last->result : last->action);
}
