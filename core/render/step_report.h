/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_STEP_REPORT_H
#define APAPI_RENDER_STEP_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"
#include "base/names.h"
#include "config/config.h"

/*
 * The report of a step: its table, or for programs a JSON array of the nodes' records, their
 * numbers as CSV, or the merged record, which has all of the step and little of each node.
 */

/** The records of a step, as lines of JSON in order of arrival. */
struct step_report {
    struct namelist lines;
    int error; /* ENOMEM: some are missing */
};

/** Keep a record's line; `context` is a struct step_report. A callback of struct receiver. */
void step_report_keep(void *context, const char *line, size_t size);

/** Add the record of a line. @return 0; -1 with errno of decoding and apapi_merge_add(). */
int step_report_add(struct apapi_merge *merge, const char *line);

/** @return whether the format needs step_report_keep() for each record. */
bool step_report_needs_lines(enum config_format format);

/**
 * Write the report. Nodes without a record come last, with the reason.
 * @param head   of the table; the other formats have its `step`
 * @param merge  of all records; knows the nodes without one
 * @return 0; -1 with errno ENOMEM.
 */
int step_report_write(const struct step_report *report, enum config_format format,
                      const struct apapi_table_head *head, const struct apapi_merge *merge,
                      FILE *out);

/** Free what it owns. */
void step_report_clear(struct step_report *report);

#endif
