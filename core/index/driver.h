/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_DRIVER_H
#define APAPI_INDEX_DRIVER_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "apapi/error.h"

/* A kind of database: its values, its dialect of SQL, and the functions that call its library. */

enum db_type { DB_NULL, DB_INTEGER, DB_REAL, DB_TEXT, DB_BYTES };

/** A value of a row. Reading gives integers and texts. */
struct db_value {
    enum db_type type;
    int64_t integer;
    double real;
    const char *text; /* `size` bytes; a parameter's must stay valid until the statement has run */
    size_t size;
};

/** NaN becomes NULL. */
static inline struct db_value db_real(double value)
{
    return (struct db_value){.type = isfinite(value) ? DB_REAL : DB_NULL, .real = value};
}

static inline struct db_value db_integer(int64_t value)
{
    return (struct db_value){.type = DB_INTEGER, .integer = value};
}

/** NULL becomes NULL. */
static inline struct db_value db_text(const char *text)
{
    return (struct db_value){
        .type = text ? DB_TEXT : DB_NULL, .text = text, .size = text ? strlen(text) : 0};
}

static inline struct db_value db_bytes(const void *bytes, size_t size)
{
    return (struct db_value){.type = DB_BYTES, .text = bytes, .size = size};
}

/** Types of a value in a JSON document. */
enum db_json {
    DB_JSON_REAL,
    DB_JSON_TEXT,
    DB_JSON_INTEGER,
    DB_JSON_FLAG,
    DB_JSON_ANY,
    DB_JSON_FORMS
};

/** JSON documents in a database, in SQL: the text after FROM, the columns that identify a document,
 * and the document. */
struct db_each {
    const char *from, *keys, *document;
};

/** The differences between databases in SQL. */
struct db_dialect {
    const char *id_type, *line_type;
    const char *text_end;  /* follows the type of a text: texts are compared by their bytes */
    const char *table_end; /* the end of CREATE TABLE ... */
    const char *skip;      /* the end of an INSERT that skips records whose identity exists */
    size_t rows;           /* that one INSERT should have: 1 to DB_ROWS_MAX */
    const char *view[2];   /* before and after the name in CREATE VIEW ... AS */
    const char *json[DB_JSON_FORMS][3]; /* before, between and after a document and a path */
    struct db_each line, hour;          /* of `records` and `hours`; no keys */
    struct db_each domains, components, events;
};

#define DB_ROWS_MAX 64
#define DB_VALUES_MAX (40 * DB_ROWS_MAX) /* parameters of a statement */

/** The parts of a URL. Unset: NULL, 0. */
struct db_address {
    const char *whole; /* the URL, for a client library that parses it */
    const char *user, *host, *database, *socket, *option_file;
    unsigned port;
};

/** A statement with its values. */
struct db_sent {
    const char *sql;
    size_t size;
    const struct db_value *texts[DB_VALUES_MAX]; /* values of $1, $2 ...: texts and bytes */
    size_t count;
};

/** A kind of database. Connections and statements belong to the driver; errors as in db.h. */
struct db_driver {
    const char *settings[2]; /* SQL for a new connection: to read, to write */
    const char *begin;       /* SQL that begins a write transaction */
    const char *lock;        /* SQL that makes other imports wait; NULL: `begin` does */
    const char *has_table;   /* SQL that counts the tables named "?" */
    struct db_dialect dialect;
    /* writing: create the database if needed */
    void *(*open)(const struct db_address *address, bool writing, struct apapi_error *err);
    void (*close)(void *connection);
    /* Functions of a database that is a library: */
    int (*exec)(void *connection, const char *sql, struct apapi_error *err);
    void *(*prepare)(void *connection, const char *sql, struct apapi_error *err);
    void (*finalize)(void *statement);
    /* Sets a parameter to a value, which must stay until the next step(). 0; -1 with ENOMEM */
    int (*bind)(void *statement, size_t number, const struct db_value *value);
    /* Functions of a database that is a server. Numbers are written into the statement. escape()
     * returns the size of an escaped text; NULL: texts are passed beside the statement, as $1. */
    size_t (*escape)(void *connection, char *to, const struct db_value *value);
    int (*send)(void *connection, const struct db_sent *sent, struct apapi_error *err);
    /* `handle`: a statement, or the connection to a server, for the statement that runs on it. */
    int (*step)(void *handle, struct apapi_error *err); /* 1: there is a row; 0 */
    void (*reset)(void *handle);                        /* drop the other rows */
    int64_t (*changes)(void *handle);
    struct db_value (*column)(void *handle, size_t number);
};

extern const struct db_driver db_sqlite, db_mariadb, db_postgres;

#endif
