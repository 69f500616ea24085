/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/totals/sort.h"

#include <math.h>
#include <stdlib.h>

struct ranked {
    double value;
    uint32_t row, index;
};

/* Greatest first, unknown ones last, otherwise stable. */
static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (isnan(a->value) != isnan(b->value)) {
        return isnan(a->value) ? 1 : -1;
    }
    if (a->value != b->value && !isnan(a->value)) {
        return a->value > b->value ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

/* Rows are summed up twice instead of being kept: there may be a million. */
int report_sort(const struct report_ledger *ledger, const struct report_field *field,
                const struct rates *rates, uint32_t *order, size_t count)
{
    const struct report_view view = {.rates = rates};
    struct ranked *ranked = calloc(count + 1, sizeof *ranked);
    struct report_row row;
    size_t i = 0;

    for (; ranked && i < count && report_ledger_sum(ledger, order[i], &view, &row) == 0; i++) {
        ranked[i] = (struct ranked){report_field_number(field, &row), order[i], (uint32_t)i};
        report_row_free(&row);
    }
    if (!ranked || i < count) {
        free(ranked);
        return -1;
    }
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (i = 0; i < count; i++) {
        order[i] = ranked[i].row;
    }
    free(ranked);
    return 0;
}
