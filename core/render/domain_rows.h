/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_DOMAIN_ROWS_H
#define APAPI_RENDER_DOMAIN_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/measurement.h"
#include "base/units.h"
#include "sum/merge.h"

/* Energies and powers of domains: the same lines in the table of a step and in that of a job. */

enum row_column { ROW_ENERGY, ROW_MEAN, ROW_MIN, ROW_MAX, ROW_P95, ROW_COLUMNS };

struct table_row {
    char label[48];
    double uncertainty; /* of all values of the row, as a share; NaN: not known */
    double values[ROW_COLUMNS];
    size_t columns; /* how many are shown */
    bool is_total;
    struct merge_domain sum; /* bin_ns is also 0 if the time is too short for powers */
};

/** All zero: no rows. */
struct table_rows {
    struct table_row rows[APAPI_DOMAINS + 1];
    size_t count;
    size_t columns; /* shown for all domains; the total may have fewer */
    size_t least_width[ROW_COLUMNS];
};

/**
 * Make the rows of the domains that add up, of their total and, in brackets, of the domains that do
 * not add up. rows->columns must be set.
 * @param domains  by enum apapi_domain; those without nodes have no row
 * @param label    of the total
 * @param brief    the time is too short for powers
 */
void table_rows_collect(struct table_rows *rows, const struct merge_domain *domains,
                        const struct merge_domain *total, const char *label, bool brief);

/** Say that the time is too short for a power. */
void table_put_brief(uint64_t window_ns, FILE *out);

/**
 * Print a line of titles and a line for each row, with the digits that are known. Prints nothing if
 * there are no rows. 0; -1: out of memory.
 */
int table_rows_put(const struct table_rows *rows, FILE *out);

/**
 * Say below the rows which part of the time the energies cover, and the estimates for the rest.
 * @param said_pct  coverage that another line says for all domains; NaN: none does
 */
void table_rows_put_coverage(const struct table_rows *rows, double said_pct, FILE *out);

/**
 * Say that nodes may be shared, so that their energy is not that of the step or job alone.
 * @param cores, node_cores  0, APAPI_UNKNOWN: not known
 */
void table_put_shared(uint32_t cores, uint32_t node_cores, size_t nodes, FILE *out);

#endif
