/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_REPORT_FIT_H
#define APAPI_REPORT_FIT_H
#include <stdbool.h>

#include "base/names.h"
#include "cli/totals/row_fields.h"

/*
 * Fits a wide table into the terminal: columns are reduced to what the first rows need, texts even
 * further. Numbers are never cut.
 */

#define REPORT_FIT_ROWS 1000

/** The cells of these rows in order. */
struct report_fit {
    size_t width; /* of a line; 0: no limit */
    struct namelist cells;
};

/** @return whether the columns are too wide. */
bool report_fit_needed(const struct report_fit *fit, const struct report_format *format);

/** Reduce the columns to the kept cells. Columns with a given width stay unchanged. */
void report_fit_columns(const struct report_fit *fit, struct report_format *format);

#endif
