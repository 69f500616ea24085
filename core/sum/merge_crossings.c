/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sum/crossing.h"
#include "sum/merge_parts.h"

#define ROWS_MAX 256 /* nodes have the same thresholds; of more, none is in the sum */

/* @return the row of a threshold, a new one if need be; NULL: too many, or ENOMEM (`no_memory`). */
static struct merge_crossing *merge_crossings_row(struct merge_crossings *crossings,
                                                  const struct apapi_crossing *wanted,
                                                  bool *no_memory)
{
    for (size_t i = 0; i < crossings->count; i++) {
        if (strcmp(crossings->rows[i].first.threshold, wanted->threshold) == 0) {
            return &crossings->rows[i];
        }
    }
    if (crossings->count == ROWS_MAX) {
        return NULL;
    }
    if (array_add(&crossings->rows, crossings->count, &crossings->capacity,
                  sizeof *crossings->rows)) {
        *no_memory = true;
        return NULL;
    }
    crossings->rows[crossings->count] = (struct merge_crossing){.last_unix_ns = INT64_MIN};
    return &crossings->rows[crossings->count++];
}

/* @param index  of the last crossing of its threshold in the record */
static void merge_crossings_note(struct merge_crossing *row, const struct apapi_record *record,
                                 size_t index, const struct merge_node *node)
{
    const struct apapi_crossing *last = &record->crossing[index];
    const struct apapi_crossing *first = &record->crossing[crossing_first(record, index)];
    uint64_t count = row->first.count + last->count;

    if (row->nodes == 0 || first->unix_ns < row->first.unix_ns) {
        row->first = *first;
        row->first_node = node;
    }
    row->first.count = count;
    row->last_unix_ns = last->unix_ns > row->last_unix_ns ? last->unix_ns : row->last_unix_ns;
    row->nodes++;
}

int merge_crossings_add(struct merge_crossings *crossings, const struct apapi_record *record,
                        const struct merge_node *node)
{
    bool no_memory = false;

    for (size_t i = 0; i < record->crossing_count && !no_memory; i++) {
        struct merge_crossing *row =
            crossing_is_last(record, i)
                ? merge_crossings_row(crossings, &record->crossing[i], &no_memory)
                : NULL;

        if (row) {
            merge_crossings_note(row, record, i, node);
        }
    }
    return no_memory ? -1 : 0;
}

void merge_crossings_clear(struct merge_crossings *crossings)
{
    free(crossings->rows);
    *crossings = (struct merge_crossings){0};
}
