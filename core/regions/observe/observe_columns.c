/* SPDX-License-Identifier: BSD-3-Clause */
#include "regions/observe/observe_parts.h"

#define TIMES_MORE 2 /* so much more than one that has a column: none is changed often */

/* Regions get columns of their own as they come, as long as there are any. */
static size_t columns_of(struct observer *observer, size_t node)
{
    if (observer->columns[node] == COLUMN_NONE) {
        observer->columns[node] = observer->column_count < FIT_COLUMNS
                                      ? (uint16_t)observer->column_count++
                                      : COLUMN_COMMON;
    }
    return observer->columns[node];
}

void observe_add_time(struct observer *observer, size_t column, double time_s)
{
    observer->times_s[column] += time_s;
    bands_add(&observer->bands, column, time_s);
}

void observe_add_node_time(struct observer *observer, size_t node, double time_s)
{
    size_t column = columns_of(observer, node);

    observer->nodes.list[node].time_s += time_s;
    observe_add_time(observer, column, time_s);
    if (column == COLUMN_COMMON) {
        observer->common_s[node] += time_s;
    }
}

/* What a column has had so far is in the common one. */
static void columns_empty(struct observer *observer, size_t column)
{
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        struct observe_domain *domain = &observer->domains[d];

        if (domain->fit) {
            fit_join(domain->fit, column, COLUMN_COMMON);
        }
        domain->times_s[COLUMN_COMMON] += domain->times_s[column];
        domain->times_s[column] = 0;
    }
    observer->times_s[COLUMN_COMMON] += observer->times_s[column];
    observer->times_s[column] = 0;
    bands_move(&observer->bands, column, COLUMN_COMMON);
}

void observe_change_columns(struct observer *observer)
{
    const struct nodes_one *list = observer->nodes.list;
    size_t least = 0, most = 0;

    if (observer->column_count < FIT_COLUMNS || observer->held > 0) {
        return;
    }
    for (size_t i = NODES_FIRST; i < observer->nodes.count; i++) {
        size_t *best = observer->columns[i] == COLUMN_COMMON ? &most : &least;
        bool more = *best == 0 || list[i].time_s > list[*best].time_s;

        if (observer->columns[i] != COLUMN_NONE && (*best == 0 || more == (best == &most))) {
            *best = i;
        }
    }
    if (most > 0 && least > 0 && list[most].time_s > TIMES_MORE * list[least].time_s) {
        uint16_t column = observer->columns[least];

        observer->common_s[least] += observer->times_s[column];
        columns_empty(observer, column);
        observer->columns[least] = COLUMN_COMMON;
        observer->columns[most] = column;
    }
}
