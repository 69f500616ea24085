/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include "apapi/scan.h"
#include "cli/records/input_options.h"

/**
 * Where nothing says which files there are, the accounting folder of apapi.conf is read.
 * @param dir  lives as long as the input is used
 * @return 0; the exit status after a message: the options exclude each other.
 */
int report_input_complete(struct report_input *input, const char *dir);

/**
 * Hand over every record that is wanted, and tell on standard error what was skipped.
 * @param left_out  result: lines that are no record, and files that cannot be read
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also where `take` fails.
 */
int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out);

#endif
