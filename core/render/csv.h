/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_CSV_H
#define APAPI_RENDER_CSV_H
#include <stdbool.h>
#include <stdio.h>

#include "apapi/record.h"

/* CSV is a single table: one line for each number of the program, each domain and each event. */

/** Names of the columns that follow the leading ones. */
#define CSV_COLUMNS                                                                                \
    "row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,covered_s,"          \
    "samples,failed,wraps,resets,refused,gaps,stalls,source,estimated,covered,rest_j,missing_"     \
    "domains,rough\n"

/** The output, and the first fields of each line: the run, or step and node. */
struct csv {
    FILE *out;
    const char *leads[2]; /* up to the first NULL; at least one */
};

/** Write a line with only a name and a number; NaN: not known. */
void csv_put_number(const struct csv *csv, const char *row, const char *name, const char *unit,
                    double number);

/**
 * Write the domains, the total and the events of a record, the thresholds that were crossed, the
 * step's share of the energy, and what each region has used, with the figures of merit.
 */
void csv_put_record(const struct csv *csv, const struct apapi_record *record);

#endif
