/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_H
#define APAPI_DATABASE_DB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/error.h"
#include "database/db_dialect.h"
#include "database/db_value.h"

/*
 * A database of records: SQLite or MariaDB behind the same functions. One thread at a time. All
 * functions that return int and take `err` return 0 or the documented value, or -1 with errno EIO
 * (refused by the database, or connection lost), ENOMEM.
 */

struct db;
struct db_statement;

/**
 * Connect.
 * @param url  "sqlite:FILE" or
 * "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]"
 * @return 0; -1 with errno EINVAL (malformed URL), ENOTSUP (not built or installed with it), EIO
 */
int db_open(const char *url, struct db **db, struct apapi_error *err);

/**
 * Open an existing database for reading. Creates nothing; writes fail.
 * @return 0; -1 as above, and with errno of open(2)
 */
int db_open_existing(const char *url, struct db **db, struct apapi_error *err);

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
int db_commit(struct db *db, struct apapi_error *err);

/** @return a statement with a "?" for each parameter, free it with db_finalize(); NULL on error. */
struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err);

/**
 * The same for the text of a memory stream, which is closed.
 * @param sql   NULL: out of memory
 * @param text  of the stream; is freed
 */
struct db_statement *db_prepare_stream(struct db *db, FILE *sql, char **text,
                                       struct apapi_error *err);

/** Free the statement before the database is closed. NULL is allowed. */
void db_finalize(struct db_statement *statement);

/** Set a parameter, counted from 0. It stays set. 0; -1 with ENOMEM. */
int db_bind(struct db_statement *statement, size_t number, const struct db_value *value);

/**
 * Run a statement, or go to its next row.
 * @return 1: a row; 0: done, it can be run again; -1
 */
int db_step(struct db_statement *statement, struct apapi_error *err);

/** Run a statement without rows with these parameters. */
int db_run(struct db_statement *statement, const struct db_value *values, size_t count,
           struct apapi_error *err);

/** Run a statement to its first row. Returns as db_step(). db_end() must follow. */
int db_first(struct db_statement *statement, const struct db_value *values, size_t count,
             struct apapi_error *err);

/** End the statement. Remaining rows are dropped. */
void db_end(struct db_statement *statement);

/** A value of the row, counted from 0. A text is valid until the next step. */
struct db_value db_column(struct db_statement *statement, size_t number);

/** @return the number of rows that the last run of a statement added or changed. */
size_t db_changes(struct db_statement *statement);

/** @return those of this database. */
const struct db_dialect *db_dialect(const struct db *db);

#endif
