/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_ROW_H
#define APAPI_DATABASE_DB_ROW_H
#include <stdio.h>

#include "database/db.h"
#include "database/db_tables.h"

/* Converts structures to rows and back. One thread at a time; errors as in db.h. */

/** Adds rows to a table, as many in a statement as the database can handle (opaque). */
struct db_insert;

/** If a row exists already: fail; skip the new one; replace the old one. */
enum db_conflict { DB_REFUSE, DB_SKIP, DB_REPLACE };

/** A row: keys, then parts, then text. */
struct db_row {
    const int64_t *keys;      /* one for each key of the table */
    const void *const *bases; /* the structure of each part */
    struct db_value text;
};

/** @return free it with db_insert_destroy() before the database is closed; NULL on error. */
struct db_insert *db_insert_create(struct db *db, const struct db_table *table,
                                   enum db_conflict conflict, struct apapi_error *err);

/** Free. NULL is allowed. errno is preserved. */
void db_insert_destroy(struct db_insert *insert);

/** @return the number of values in a row. */
size_t db_insert_width(const struct db_insert *insert);

/** @return the index of the column of this name, which must exist. */
size_t db_insert_column(const struct db_insert *insert, const char *name);

/**
 * Collect the values of a row. Texts belong to the structures. Thread-safety: any thread, even
 * while another one adds rows.
 */
void db_insert_values(const struct db_insert *insert, const struct db_row *row,
                      struct db_value *values);

/** Add a row, or keep it until there are enough. Values must stay valid until db_insert_flush(). */
int db_insert_put(struct db_insert *insert, const struct db_value *values, struct apapi_error *err);

/** Add the kept rows. */
int db_insert_flush(struct db_insert *insert, struct apapi_error *err);

/** @return how many rows were new since the last call, without kept rows. */
size_t db_insert_added(struct db_insert *insert);

/** Add one row. */
int db_insert_run(struct db_insert *insert, const struct db_row *row, struct apapi_error *err);

/** Write the names of the columns of the table's parts for a SELECT. */
void db_parts_write(FILE *sql, const struct db_table *table);

/**
 * Fill the structures of the table's parts from a row.
 * @param first  first column of db_parts_write() in the row
 * @return the column after them
 */
size_t db_parts_read(struct db_statement *row, size_t first, const struct db_table *table,
                     void *const *bases);

#endif
