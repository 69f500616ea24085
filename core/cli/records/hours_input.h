/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_HOURS_INPUT_H
#define APAPI_RECORDS_HOURS_INPUT_H
#include "apapi/scan.h"
#include "record/hour.h"

/**
 * Pass the lines of nodes' own records in a database to `take`: as hours_read() for files.
 * @param filter  times and nodes
 * @return 0; -1 with errno EINVAL (malformed URL or list of nodes), those of db.h and
 * db_tables_check(), or that of `take` (`err` is empty then)
 */
int hours_input_db(const char *url, const struct apapi_scan_filter *filter,
                   int (*take)(const struct hour *hour, void *context), void *context,
                   struct apapi_error *err);

#endif
