/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_CSV_H
#define APAPI_RENDER_CSV_H
#include <stdbool.h>
#include <stdio.h>

#include "apapi/measurement.h"
#include "apapi/record.h"
#include "apapi/region_result.h"

/* A single table: one line for each number of the program, each domain and each event. */

#define CSV_LEADS_MAX 2

/** Names of the columns that follow the leading ones. */
#define CSV_COLUMNS                                                                                \
    "row,name,domain,kind,unit,total,uncertainty_j,rate_unit,min,mean,p95,max,covered_s,"          \
    "samples,failed,wraps,resets,refused,gaps,stalls,source,estimated,covered,rest_j,missing_"     \
    "domains,rough\n"

/** The output, and the first fields of each line: the run, or step and node. */
struct csv {
    FILE *out;
    const char *leads[CSV_LEADS_MAX]; /* up to the first NULL; at least one */
};

/** Write a line with only a name and a number; NaN: not known. */
void csv_put_number(const struct csv *csv, const char *row, const char *name, const char *unit,
                    double number);

/** The thresholds that were crossed, and the crossings that the record has. */
void csv_put_crossings(const struct csv *csv, const struct apapi_record *record);

/** The domains, the total and the events of a measurement. */
void csv_put_measurement(const struct csv *csv, const struct apapi_measurement *m);

/** The step's share of the energy, by domain and in all. Nothing if that is not known. */
void csv_put_share(const struct csv *csv, const struct apapi_share *share);

/** The energy of each region, in all and by domain, and the figures of merit. */
void csv_put_regions(const struct csv *csv, const struct apapi_regions *regions);

#endif
