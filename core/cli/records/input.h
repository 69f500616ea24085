/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include "apapi/scan.h"
#include "cli/query.h"
#include "record/hour.h"

/**
 * Read apapi.conf and parse the query. If neither files nor a database are given, records come from
 * the accounting folder in apapi.conf. A user who may not read that folder gets his own folder in
 * user_records, if the site has such folders.
 * @return 0; the exit status after a message. Call records_end() in both cases.
 */
int records_begin(struct query *query);

/** Free what records_begin() has made. @return `status`; EXIT_FAILURE if a file cannot be read, or
 * if lines were left out with --strict */
int records_end(struct query *query, int status);

/** Receives what is read. Each function may be NULL. */
struct records_sink {
    apapi_scan_f record;
    hour_f hour; /* nodes' own records, of folders only */
    /* Called before and after a file of a folder, as in struct apapi_scan_sink. */
    bool (*begin)(const char *folder, const struct apapi_scan_file *file, uint64_t *offset,
                  void *context);
    void (*end)(const char *folder, const struct apapi_scan_file *file, uint64_t offset,
                void *context);
    const struct apapi_error *err; /* why a function failed; NULL, or no text: see errno */
    void *context;
};

/**
 * Pass each wanted record to the sink, and report on standard error what was skipped. A line on a
 * terminal shows the progress, beginning after one second.
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if the sink fails.
 */
int records_feed(struct query *query, const struct records_sink *sink);

/** Like records_feed(), if only records are wanted. */
int records_read(struct query *query, apapi_scan_f take, void *context);

/** Like records_read(): pass nodes' own records, of the accounting folder or the database. */
int records_read_hours(struct query *query, hour_f take, void *context);

#endif
