/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_FIT_H
#define APAPI_REPORT_FIT_H
#include <stdbool.h>

#include "cli/totals/row_fields.h"

/*
 * A table that is too wide for where it is shown: its columns become as narrow as what stands in
 * the first rows, texts still narrower. Numbers are never cut.
 */

#define REPORT_FIT_ROWS 1000

/** The cells of these rows, in their order. */
struct report_fit {
    size_t width; /* of a line; 0: no limit */
    char **cells;
    size_t count, room;
};

/** @return whether the columns as they are do not fit. */
bool report_fit_needed(const struct report_fit *fit, const struct report_format *format);

/** Keep a cell, which is copied. 0; -1 with errno ENOMEM. */
int report_fit_keep(struct report_fit *fit, const char *cell);

/** Make the columns narrower by what was kept. Those whose width was given stay. */
void report_fit_columns(const struct report_fit *fit, struct report_format *format);

void report_fit_free(struct report_fit *fit);

#endif
