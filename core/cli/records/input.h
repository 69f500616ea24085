/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include "apapi/scan.h"
#include "cli/query.h"

/**
 * Read apapi.conf, and parse the query. If neither files nor a database are given, the records are
 * those of its accounting folder. A user who may not read that gets his own folder in user_records,
 * if the site has them.
 * @return 0; the exit status after a message. Call records_end() in both cases.
 */
int records_begin(struct query *query);

/** Free what it has made. @return `status`; failure if lines were left out and that is an error */
int records_end(struct query *query, int status);

/**
 * Pass each wanted record to `take`, and report on standard error what was skipped.
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if `take` fails.
 */
int records_read(struct query *query, apapi_scan_f take, void *context);

/** Report why nothing could be read, by errno and its text. @return the exit status */
int records_fail(const struct query *query, int code, const struct apapi_error *err);

#endif
