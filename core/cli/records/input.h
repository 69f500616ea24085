/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include "apapi/scan.h"
#include "cli/records/input_options.h"
#include "config/config.h"

/**
 * If neither files nor a database are given, use the accounting folder of apapi.conf. A user who
 * may not read that gets his own folder in user_records, if the site has them.
 * @param config  must stay valid as long as the input is used
 * @return 0; the exit status after a message: the options exclude each other, or ask for records of
 * other users.
 */
int report_input_complete(struct report_input *input, const struct config *config);

/**
 * Read the records as apapi.conf and `input` say, then print what they are.
 * @param take, print  get `context`; print returns the exit status
 * @return the exit status, also for input->strict
 */
int report_input_print(struct report_input *input, apapi_scan_f take, int (*print)(void *context),
                       void *context);

/**
 * Pass each wanted record to `take`, and report on standard error what was skipped.
 * @param left_out  result: number of lines that are not records, and of unreadable files
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if `take` fails.
 */
int report_input_read(const struct report_input *input, apapi_scan_f take, void *context,
                      size_t *left_out);

#endif
