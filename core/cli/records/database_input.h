/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_DATABASE_INPUT_H
#define APAPI_RECORDS_DATABASE_INPUT_H
#include "apapi/scan.h"
#include "cli/records/input_options.h"

/**
 * Pass the wanted records of the database `input->db` to `take`, without their lines. Users,
 * accounts and partitions of `input` only reduce the number: `take` must check them.
 * @return 0; -1 with errno EINVAL (malformed URL or list of nodes), those of db.h and
 * db_tables_check(), or that of `take` (`err` is empty then)
 */
int report_db_read(const struct report_input *input, const struct apapi_scan_filter *filter,
                   apapi_scan_f take, void *context, struct apapi_error *err);

#endif
