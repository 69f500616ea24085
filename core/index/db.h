/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_DB_H
#define APAPI_INDEX_DB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/error.h"
#include "index/driver.h"

/*
 * SQLite, MariaDB and PostgreSQL behind the same functions, for this room. One thread at a time.
 * All functions that return int and take `err` return 0 or the documented value, or -1 with errno
 * EIO (refused by the database, or connection lost), ENOMEM.
 */

struct db;
struct db_statement;

/**
 * Connect.
 * @param url      as in index.h
 * @param writing  create the database if needed; otherwise it must exist, and writing to it fails
 * @return 0; -1, also with errno EINVAL (malformed URL), ENOTSUP (not built or installed with it)
 */
int db_connect(const char *url, bool writing, struct db **db, struct apapi_error *err);

/** Roll back what is not committed, and disconnect. NULL is allowed. errno is preserved. */
void db_close(struct db *db);

/** Run SQL without parameters and without result. */
int db_exec(struct db *db, const char *sql, struct apapi_error *err);

/** @return 1: a table of this name exists; 0: it does not; -1 */
int db_has_table(struct db *db, const char *name, struct apapi_error *err);

/** Make other imports wait as long as this connection lives. */
int db_lock(struct db *db, struct apapi_error *err);

/** Begin a write transaction. */
int db_begin(struct db *db, struct apapi_error *err);

/**
 * Prepare a statement. Names in it that may be words of SQL must be in double quotes.
 * @param sql  has a "?" for each parameter, and no other "?"
 * @return free it with db_finalize() before the database is closed; NULL on error.
 */
struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err);

/**
 * Prepare the text of a memory stream, which is closed, as db_prepare().
 * @param sql   NULL: out of memory
 * @param text  of the stream; is freed
 */
struct db_statement *db_prepare_stream(struct db *db, FILE *sql, char **text,
                                       struct apapi_error *err);

/** Run the text of a memory stream as db_exec(); stream and text as in db_prepare_stream(). */
int db_exec_stream(struct db *db, FILE *sql, char **text, struct apapi_error *err);

/** Free a statement. NULL is allowed. */
void db_finalize(struct db_statement *statement);

/**
 * Run a statement with these parameters, to its first row.
 * @return 1: a row: call db_step() until there is none, or db_end(), before any other statement; 0:
 * no row; -1
 */
int db_first(struct db_statement *statement, const struct db_value *values, size_t count,
             struct apapi_error *err);

/** Go to the next row. Returns as db_first(). */
int db_step(struct db_statement *statement, struct apapi_error *err);

/** Drop the rows that are left. errno is preserved. */
void db_end(struct db_statement *statement);

/** Run a statement without rows. @return how many rows it has added or removed; -1 */
int64_t db_run(struct db_statement *statement, const struct db_value *values, size_t count,
               struct apapi_error *err);

/** @return value `number` of the row, from 0. A text is valid until the next step. */
struct db_value db_column(struct db_statement *statement, size_t number);

/** @return the dialect of this database. */
const struct db_dialect *db_dialect(const struct db *db);

#endif
