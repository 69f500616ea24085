/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_READ_H
#define APAPI_DATABASE_DB_READ_H
#include <stdbool.h>
#include <stddef.h>

#include "apapi/record.h"
#include "database/db.h"

/*
 * Records, read back from their rows. What a row does not know is as in a record that does not: ""
 * or APAPI_UNKNOWN, not measured, NaN. Components and events stay in the database:
 * component_count is 0, and a record owns nothing. Values that no import has written are cut to
 * what a record holds. One thread at a time; errors as in db.h.
 */

/** What is read besides the row of `records`, which has the energy of each domain. */
struct db_read_parts {
    bool timelines; /* the domains' power over time: costs most of the reading */
    bool domains;   /* their uncertainties and powers, and those without energy: a query for each */
};

/** Reads records (opaque). */
struct db_reader;

/**
 * @param which  stands behind "SELECT ... FROM records ", with a "?" for each parameter:
 *               "WHERE day >= ? AND user = ? ORDER BY cluster, job"; "" for all
 * @param parts  copied
 * @return freed by db_reader_destroy(), before the database is closed; NULL on error.
 */
struct db_reader *db_reader_create(struct db *db, const char *which,
                                   const struct db_read_parts *parts, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void db_reader_destroy(struct db_reader *reader);

/**
 * Read the first record, or go on to the next one.
 * @param values  as many as there are "?"; their texts live until the last record was read
 * @param record  result
 * @return 1: it is set; 0: there are no more; -1. db_reader_end() follows where not all are read.
 */
int db_reader_first(struct db_reader *reader, const struct db_value *values, size_t count,
                    struct apapi_record *record, struct apapi_error *err);
int db_reader_next(struct db_reader *reader, struct apapi_record *record, struct apapi_error *err);

/** @return whether the record that was read last does not know its power all the time. */
bool db_reader_gaps(const struct db_reader *reader);

/** Enough of them; the reader can begin again, as after the last one. */
void db_reader_end(struct db_reader *reader);

#endif
