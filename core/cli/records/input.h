/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_RECORDS_INPUT_H
#define APAPI_RECORDS_INPUT_H
#include "apapi/scan.h"
#include "cli/query.h"
#include "record/hour.h"

/**
 * Read apapi.conf, and parse the query. If neither files nor a database are given, the records are
 * those of its accounting folder. A user who may not read that gets his own folder in user_records,
 * if the site has them.
 * @return 0; the exit status after a message. Call records_end() in both cases.
 */
int records_begin(struct query *query);

/** Free what it has made. @return `status`; failure if a file cannot be read, or lines were left
 * out and that is an error */
int records_end(struct query *query, int status);

/** Receives what is read. All may be NULL. */
struct records_sink {
    apapi_scan_f record;
    hour_f hour; /* of folders: nodes' own records */
    /* Before and after a file of a folder, as in struct apapi_scan_sink. */
    bool (*begin)(const char *folder, const struct apapi_scan_file *file, uint64_t *offset,
                  void *context);
    void (*end)(const char *folder, const struct apapi_scan_file *file, uint64_t offset,
                void *context);
    const struct apapi_error *err; /* why one of them failed, if it has a text; NULL: errno */
    void *context;
};

/**
 * Pass each wanted record to the sink, and report on standard error what was skipped. On a terminal
 * a line shows how far that has got, from one second after the beginning on.
 * @return the exit status, after a message unless it is 0; EXIT_FAILURE also if the sink fails.
 */
int records_feed(struct query *query, const struct records_sink *sink);

/** The same, if only records are wanted. */
int records_read(struct query *query, apapi_scan_f take, void *context);

/** Likewise nodes' own records of the accounting folder or the database. */
int records_read_hours(struct query *query, hour_f take, void *context);

#endif
