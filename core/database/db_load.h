/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_LOAD_H
#define APAPI_DATABASE_DB_LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "database/db.h"
#include "database/db_batch.h"
#include "record/hour.h"

/*
 * Loads records into a database. Errors as in db.h. Only one thread at a time uses a db_load; any
 * thread fills batches.
 */

struct db_load;

struct db_load_counts {
    size_t added;    /* new rows */
    size_t replaced; /* rows that were replaced by a longer record */
    size_t known;    /* records that existed */
    size_t hours;    /* lines of nodes' own records, new or not */
};

/**
 * Create missing tables, and begin.
 * @param with_events  load components and events, too
 * @return free it with db_load_destroy() before the database is closed; NULL on error.
 */
struct db_load *db_load_create(struct db *db, bool with_events, struct apapi_error *err);

/** Free. What was not committed is lost when the database is closed. NULL is allowed. */
void db_load_destroy(struct db_load *load);

/** @return an empty batch, free it with db_batch_destroy() before `load`; NULL with ENOMEM. */
struct db_batch *db_batch_create(const struct db_load *load, struct apapi_error *err);

/** Write a batch, each record once, and empty it. Commits from time to time. */
int db_load_batch(struct db_load *load, struct db_batch *batch, struct apapi_error *err);

/** Commit. */
int db_load_commit(struct db_load *load, struct apapi_error *err);

/** @return how many bytes of an accounting file were loaded; 0: none; -1 with errno */
int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err);

/** Add a line of a node's own record, or replace it. */
int db_load_hour(struct db_load *load, const struct hour *hour, struct apapi_error *err);

/** Note that a file of them was read whole. Commits from time to time. */
int db_load_hours_end(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                      struct apapi_error *err);

/** @return the counts so far; valid as long as `load`. */
const struct db_load_counts *db_load_counts(const struct db_load *load);

/**
 * Calculate the totals of all jobs whose records have changed, also in an earlier import that was
 * interrupted, and create the postponed indexes.
 * @return the number of jobs; -1 with errno
 */
int64_t db_load_jobs(struct db_load *load, struct apapi_error *err);

#endif
