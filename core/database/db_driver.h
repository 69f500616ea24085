/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_DRIVER_H
#define APAPI_DATABASE_DB_DRIVER_H
#include <stdbool.h>

#include "apapi/error.h"
#include "database/db_dialect.h"
#include "database/db_value.h"

/** The parts of "mysql://user@host:port/database?socket=PATH" or "sqlite:FILE". Unset: NULL, 0. */
struct db_address {
    const char *user, *host, *database, *socket, *option_file;
    unsigned port;
};

/** A kind of database. Statements and connections belong to the driver; errors as in db.h. */
struct db_driver {
    const char *begin;     /* SQL that begins a write transaction */
    const char *lock;      /* SQL that makes other imports wait; NULL: `begin` does */
    const char *has_table; /* SQL that counts the tables named "?" */
    struct db_dialect dialect;
    /* writing: create the database if needed; otherwise only read it */
    void *(*open)(const struct db_address *address, bool writing, struct apapi_error *err);
    void (*close)(void *connection);
    int (*exec)(void *connection, const char *sql, struct apapi_error *err);
    void *(*prepare)(void *connection, const char *sql, struct apapi_error *err);
    void (*finalize)(void *statement);
    int (*bind)(void *statement, size_t number, const struct db_value *value);
    int (*step)(void *statement, struct apapi_error *err);
    void (*reset)(void *statement);
    size_t (*changes)(void *statement);
    struct db_value (*column)(void *statement, size_t number);
};

extern const struct db_driver db_sqlite;
extern const struct db_driver db_mariadb;

#endif
