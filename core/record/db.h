/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_DB_H
#define RECORD_DB_H
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"

/*
 * A database of records: SQLite or MariaDB behind the same functions. One thread at a time. All
 * functions that return int and take `err`: 0 or what they say; -1 with errno EIO (the database
 * refuses, or is gone), ENOMEM.
 */

struct db;
struct db_statement;

enum db_type { DB_NULL, DB_INTEGER, DB_REAL, DB_TEXT };

/** A value of a row. */
struct db_value {
    enum db_type type;
    int64_t integer;
    double real;
    const char *text; /* `size` bytes; as a parameter to live until the statement has run */
    size_t size;
};

/** NaN becomes NULL. */
struct db_value db_real(double value);
struct db_value db_integer(int64_t value);
/** NULL becomes NULL. */
struct db_value db_text(const char *text);

/**
 * Connect.
 * @param url  "sqlite:FILE" or
 * "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH]"
 * @return 0; -1 with errno EINVAL (no such URL), ENOTSUP (built or installed without that), EIO
 */
int db_open(const char *url, struct db **db, struct apapi_error *err);

/** Undo what is not committed, and disconnect. NULL is allowed. errno is preserved. */
void db_close(struct db *db);

/** Run SQL without parameters and without result. */
int db_exec(struct db *db, const char *sql, struct apapi_error *err);

/** Keep other imports waiting, as long as this connection lives. */
int db_lock(struct db *db, struct apapi_error *err);

/** Begin a transaction that writes. */
int db_begin(struct db *db, struct apapi_error *err);
int db_commit(struct db *db, struct apapi_error *err);

/** @return a statement with a "?" for each parameter, freed by db_finalize(); NULL on error. */
struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err);

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

/** What the databases call their types: of a key that is counted up; behind a table. */
const char *db_id_type(const struct db *db);
const char *db_table_end(const struct db *db);

#endif
