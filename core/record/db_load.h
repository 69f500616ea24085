/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_DB_LOAD_H
#define RECORD_DB_LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/scan.h"
#include "record/db.h"

/* Bring records into a database. One thread at a time; errors as in db.h. */

struct db_load;

struct db_load_counts {
    size_t added;    /* new rows */
    size_t replaced; /* rows of which a longer record has come */
    size_t known;    /* were there */
};

/**
 * Make the tables that are not there, and begin.
 * @param with_events  load components and events, too
 * @return freed by db_load_destroy(), before the database is closed; NULL on error.
 */
struct db_load *db_load_create(struct db *db, bool with_events, struct apapi_error *err);

/** Free. What was not committed is lost when the database is closed. NULL is allowed. */
void db_load_destroy(struct db_load *load);

/** Add a record, decoded from `line`, once. Every so often what has come is committed. */
int db_load_add(struct db_load *load, const struct apapi_record *record, const char *line,
                size_t size, struct apapi_error *err);

/** Commit. */
int db_load_commit(struct db_load *load, struct apapi_error *err);

/** @return how many bytes of an accounting file are known; 0: none; -1 with errno */
int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err);

/** Note that so many are, once its records are committed. */
int db_load_note(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                 uint64_t offset, struct apapi_error *err);

/** @return as far as it has got; lives as long as `load`. */
const struct db_load_counts *db_load_counts(const struct db_load *load);

/**
 * Add up all jobs whose records have changed, also in an earlier import that was broken off.
 * @return how many; -1 with errno
 */
int64_t db_load_jobs(struct db_load *load, struct apapi_error *err);

#endif
