/* SPDX-License-Identifier: BSD-3-Clause */
#include "atime/runs_crossed.h"

#include <string.h>

#include "sum/crossing.h"

/* One threshold while runs are added. */
struct crossed_sum {
    struct spread_sum count, first_s;
};

static double crossed_at_s(const struct apapi_record *record, size_t index)
{
    return (double)(record->crossing[index].unix_ns - record->measurement.start_unix_ns) / 1e9;
}

static size_t crossed_find(const struct runs_crossed *rows, size_t count, const char *threshold)
{
    size_t index = 0;

    while (index < count && strcmp(rows[index].threshold, threshold) != 0) {
        index++;
    }
    return index;
}

static size_t crossed_add(const struct apapi_record *record, size_t last, struct runs_crossed *rows,
                          struct crossed_sum *sums, size_t count)
{
    const struct apapi_crossing *crossing = &record->crossing[last];
    size_t index = crossed_find(rows, count, crossing->threshold);

    if (index == THRESHOLDS_MAX) {
        return count;
    }
    rows[index].threshold = crossing->threshold;
    spread_add(&sums[index].count, (double)crossing->count);
    spread_add(&sums[index].first_s, crossed_at_s(record, crossing_first(record, last)));
    return index == count ? count + 1 : count;
}

size_t runs_crossed(const struct report *report, struct runs_crossed rows[THRESHOLDS_MAX])
{
    struct crossed_sum sums[THRESHOLDS_MAX] = {{{0}, {0}}};
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++) {
        const struct apapi_record *record = &report->runs[i].record;

        for (size_t k = 0; k < record->crossing_count; k++) {
            if (crossing_is_last(record, k)) {
                count = crossed_add(record, k, rows, sums, count);
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        rows[i].count = spread_of(&sums[i].count);
        rows[i].first_s = spread_of(&sums[i].first_s);
    }
    return count;
}
