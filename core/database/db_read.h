/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_READ_H
#define APAPI_DATABASE_DB_READ_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/record.h"
#include "database/db.h"

/*
 * Reads records back from their rows. What a row does not know is unknown in the record: "" or
 * APAPI_UNKNOWN, not measured, NaN. Components and events are not read: component_count is 0, and a
 * record owns nothing: its regions are the reader's. Values that no import has written are cut to
 * fit. One thread at a time; errors as in db.h.
 */

/** What to read besides the row of `records`, which has the energy of each domain. */
struct db_read_parts {
    bool regions;   /* of programs; they belong to the reader, up to its next record */
    bool shares;    /* of the node's energy */
    bool timelines; /* the domains' power over time: the most expensive part */
    bool domains;   /* their uncertainties and powers: one query for each record */
};

/** Reads records (opaque). */
struct db_reader;

/**
 * @param which  the end of "SELECT ... FROM records ", with a "?" for each parameter: "WHERE day >=
 * ? AND user = ? ORDER BY cluster, job"; "" for all
 * @param parts  copied
 * @return free it with db_reader_destroy() before the database is closed; NULL on error.
 */
struct db_reader *db_reader_create(struct db *db, const char *which,
                                   const struct db_read_parts *parts, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void db_reader_destroy(struct db_reader *reader);

/**
 * Read the first record, or go to the next one.
 * @param values  one for each "?"; their texts must stay valid until the last record was read
 * @param record  result
 * @return 1: it is set; 0: no more records; -1. Call db_reader_end() if not all are read.
 */
int db_reader_first(struct db_reader *reader, const struct db_value *values, size_t count,
                    struct apapi_record *record, struct apapi_error *err);
int db_reader_next(struct db_reader *reader, struct apapi_record *record, struct apapi_error *err);

/** @return whether the power of the last record is not known for its whole time. */
bool db_reader_gaps(const struct db_reader *reader);

/** End reading before the last record. The reader can be used again. */
void db_reader_end(struct db_reader *reader);

#endif
