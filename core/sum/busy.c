/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/busy.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

int busy_add(struct busy *busy, int64_t start_ns, int64_t end_ns)
{
    if (array_add(&busy->spans, busy->count, &busy->room, sizeof *busy->spans)) {
        return -1;
    }
    busy->spans[busy->count++] = (struct busy_span){start_ns, end_ns};
    return 0;
}

static int busy_compare(const void *left, const void *right)
{
    const struct busy_span *a = left, *b = right;

    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

double busy_length_ns(const struct busy *busy)
{
    int64_t until_ns = INT64_MIN;
    double length_ns = 0;

    if (busy->count > 1) {
        qsort(busy->spans, busy->count, sizeof *busy->spans, busy_compare);
    }
    for (size_t i = 0; i < busy->count; i++) {
        const struct busy_span *span = &busy->spans[i];
        int64_t start_ns = span->start_ns > until_ns ? span->start_ns : until_ns;

        if (span->end_ns > start_ns) {
            length_ns += (double)span->end_ns - (double)start_ns;
            until_ns = span->end_ns;
        }
    }
    return length_ns;
}

void busy_clear(struct busy *busy)
{
    free(busy->spans);
    *busy = (struct busy){0};
}
