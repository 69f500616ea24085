/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RENDER_STEP_REPORT_H
#define APAPI_RENDER_STEP_REPORT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apapi/record.h"
#include "config/config.h"

/*
 * The report of a step: its table, or for programs a JSON array of the nodes' records, the numbers
 * of these records as CSV, or the merged record, with all of the step and little of each node.
 */

/** Keep the line of a record, in order of arrival. */
void step_report_keep(struct apapi_merge *merge, const char *line, size_t size);

/** Add the record of a line, and keep the line. @return 0; -1 with errno of decoding and
 * apapi_merge_add(). */
int step_report_add(struct apapi_merge *merge, const char *line);

/** @return whether the format needs the line of each record. */
bool step_report_needs_lines(enum config_format format);

/**
 * Write the report. Nodes without a record come last, with the reason.
 * @param head   of the table; the other formats use only its `step`
 * @param merge  sum of all records, with their lines; knows the nodes without a record
 * @return 0; -1 with errno ENOMEM.
 */
int step_report_write(const struct apapi_merge *merge, enum config_format format,
                      const struct apapi_table_head *head, FILE *out);

#endif
