/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_OUTPUT_CSV_H
#define APAPI_OUTPUT_CSV_H
#include <stdbool.h>
#include <stdio.h>

#include "apapi/measurement.h"

/* One table for everything: a line for each number of the program, each domain and each event. */

#define CSV_LEADS_MAX 2

/** Names of the columns that follow the leading ones. */
#define CSV_COLUMNS                                                                                \
    "row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,covered_s,"          \
    "samples,failed,wraps,resets,refused,gaps,stalls,source,estimated\n"

/** Where to, and what every line begins with: the run; the step and the node. */
struct csv {
    FILE *out;
    const char *leads[CSV_LEADS_MAX]; /* up to the first NULL; at least one */
};

/**
 * A text as one field: in quotes where it has commas or quotes, '?' for each control character, and
 * a ' before what a spreadsheet would take for a formula.
 */
void csv_put_text(FILE *out, const char *text);

/** A line that has a name and one number only; NaN: not known. */
void csv_put_number(const struct csv *csv, const char *row, const char *name, const char *unit,
                    double number);

/** The domains, the total and the events of a measurement. */
void csv_put_measurement(const struct csv *csv, const struct apapi_measurement *m);

#endif
