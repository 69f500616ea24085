/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "database/db_driver.h"
#include "database/db_url.h"

struct db {
    const struct db_driver *driver;
    void *connection;
};

struct db_statement {
    const struct db_driver *driver;
    void *handle;
};

static int connect_to(char *url, bool writing, struct db *db, struct apapi_error *err)
{
    struct db_address address;

    if (db_url_parse(url, &db->driver, &address, err)) {
        return -1;
    }
    db->connection = db->driver->open(&address, writing, err);
    return db->connection ? 0 : -1;
}

static int open_db(const char *url, bool writing, struct db **db, struct apapi_error *err)
{
    struct db *opened = calloc(1, sizeof *opened);
    char *copy = strdup(url);
    int result = opened && copy ? connect_to(copy, writing, opened, err)
                                : apapi_fail(err, ENOMEM, "no memory");
    int code = errno;

    free(copy);
    if (result) {
        free(opened);
        errno = code;
        return -1;
    }
    *db = opened;
    return 0;
}

int db_open(const char *url, struct db **db, struct apapi_error *err)
{
    return open_db(url, true, db, err);
}

int db_open_existing(const char *url, struct db **db, struct apapi_error *err)
{
    return open_db(url, false, db, err);
}

void db_close(struct db *db)
{
    int saved = errno;

    if (db) {
        db->driver->close(db->connection);
        free(db);
    }
    errno = saved;
}

int db_exec(struct db *db, const char *sql, struct apapi_error *err)
{
    return db->driver->exec(db->connection, sql, err);
}

int db_has_table(struct db *db, const char *name, struct apapi_error *err)
{
    const struct db_value value = db_text(name);
    struct db_statement *count = db_prepare(db, db->driver->has_table, err);
    int got = count ? db_first(count, &value, 1, err) : -1;
    int result = got > 0 ? db_column(count, 0).integer != 0 : -1;

    db_finalize(count);
    return result;
}

int db_lock(struct db *db, struct apapi_error *err)
{
    return db->driver->lock ? db_exec(db, db->driver->lock, err) : 0;
}

int db_begin(struct db *db, struct apapi_error *err)
{
    return db_exec(db, db->driver->begin, err);
}

int db_commit(struct db *db, struct apapi_error *err)
{
    return db_exec(db, "COMMIT", err);
}

const struct db_dialect *db_dialect(const struct db *db)
{
    return &db->driver->dialect;
}

size_t db_changes(struct db_statement *statement)
{
    return statement->driver->changes(statement->handle);
}

struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err)
{
    struct db_statement *statement = calloc(1, sizeof *statement);

    if (!statement) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    statement->driver = db->driver;
    statement->handle = db->driver->prepare(db->connection, sql, err);
    if (!statement->handle) {
        free(statement);
        return NULL;
    }
    return statement;
}

struct db_statement *db_prepare_stream(struct db *db, FILE *sql, char **text,
                                       struct apapi_error *err)
{
    struct db_statement *statement = NULL;

    if (sql && fclose(sql) == 0) {
        statement = db_prepare(db, *text, err);
    } else {
        apapi_fail(err, ENOMEM, "no memory");
    }
    free(*text);
    return statement;
}

void db_finalize(struct db_statement *statement)
{
    if (statement) {
        statement->driver->finalize(statement->handle);
        free(statement);
    }
}

int db_bind(struct db_statement *statement, size_t number, const struct db_value *value)
{
    return statement->driver->bind(statement->handle, number, value);
}

int db_step(struct db_statement *statement, struct apapi_error *err)
{
    return statement->driver->step(statement->handle, err);
}

int db_first(struct db_statement *statement, const struct db_value *values, size_t count,
             struct apapi_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (db_bind(statement, i, &values[i])) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return db_step(statement, err);
}

void db_end(struct db_statement *statement)
{
    int saved = errno;

    statement->driver->reset(statement->handle);
    errno = saved;
}

int db_run(struct db_statement *statement, const struct db_value *values, size_t count,
           struct apapi_error *err)
{
    int result = db_first(statement, values, count, err);

    db_end(statement);
    return result < 0 ? -1 : 0;
}

struct db_value db_column(struct db_statement *statement, size_t number)
{
    return statement->driver->column(statement->handle, number);
}
