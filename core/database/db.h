/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_H
#define APAPI_DATABASE_DB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/error.h"
#include "database/db_value.h"

/*
 * A database of records: SQLite or MariaDB behind the same functions. One thread at a time. All
 * functions that return int and take `err`: 0 or what they say; -1 with errno EIO (the database
 * refuses, or is gone), ENOMEM.
 */

struct db;
struct db_statement;

/**
 * Connect.
 * @param url  "sqlite:FILE" or
 * "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]"
 * @return 0; -1 with errno EINVAL (no such URL), ENOTSUP (built or installed without that), EIO
 */
int db_open(const char *url, struct db **db, struct apapi_error *err);

/**
 * The same for a database that is there, to read it: nothing is created, and what would write
 * fails.
 * @return 0; -1 as above, and with errno of open(2)
 */
int db_open_existing(const char *url, struct db **db, struct apapi_error *err);

/** Undo what is not committed, and disconnect. NULL is allowed. errno is preserved. */
void db_close(struct db *db);

/** Run SQL without parameters and without result. */
int db_exec(struct db *db, const char *sql, struct apapi_error *err);

/** @return 1: there is a table of that name; 0: there is none; -1 */
int db_has_table(struct db *db, const char *name, struct apapi_error *err);

/** Keep other imports waiting, as long as this connection lives. */
int db_lock(struct db *db, struct apapi_error *err);

/** Begin a transaction that writes. */
int db_begin(struct db *db, struct apapi_error *err);
int db_commit(struct db *db, struct apapi_error *err);

/** @return a statement with a "?" for each parameter, freed by db_finalize(); NULL on error. */
struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err);

/**
 * The same of what was written to a memory stream, which is closed.
 * @param sql   NULL: there was no memory for it
 * @param text  of the stream; freed
 */
struct db_statement *db_prepare_stream(struct db *db, FILE *sql, char **text,
                                       struct apapi_error *err);

/** Free, before the database is closed. NULL is allowed. */
void db_finalize(struct db_statement *statement);

/** Set a parameter, from 0; it stays set. 0; -1 with ENOMEM. */
int db_bind(struct db_statement *statement, size_t number, const struct db_value *value);

/**
 * Run a statement, or go on to its next row.
 * @return 1: there is a row; 0: done; -1. After 0 it can be run again.
 */
int db_step(struct db_statement *statement, struct apapi_error *err);

/** Run a statement that has no rows with these parameters. */
int db_run(struct db_statement *statement, const struct db_value *values, size_t count,
           struct apapi_error *err);

/** The first row of a statement: as db_step(); db_end() must follow. */
int db_first(struct db_statement *statement, const struct db_value *values, size_t count,
             struct apapi_error *err);

/** Enough of its rows. */
void db_end(struct db_statement *statement);

/** A value of the row, from 0; a text lives until the next step. */
struct db_value db_column(struct db_statement *statement, size_t number);

/** @return how many rows the last run of a statement has added or changed. */
size_t db_changes(struct db_statement *statement);

/** @return how many rows a statement that adds some should have: 1 to DB_ROWS_MAX. */
size_t db_rows(const struct db *db);

/** @return what stands behind an INSERT that leaves out rows that are there; they have a `job`. */
const char *db_skip(const struct db *db);

/** @return whether indexes are made faster when the rows are there than kept with each of them. */
bool db_indexes_later(const struct db *db);

/** What the databases call their types: of a key that is counted up; behind a table; behind one
 * that is kept in the order of its primary key. */
const char *db_id_type(const struct db *db);
const char *db_table_end(const struct db *db);
const char *db_ordered_table_end(const struct db *db);

#endif
