/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "index/driver.h"

#define WAIT_MS 60000 /* how long to wait for another writer */

static int db_sqlite_fail(sqlite3 *connection, struct apapi_error *err)
{
    const char *file = sqlite3_db_filename(connection, "main");

    int code = sqlite3_errcode(connection);

    return apapi_fail(err,
                      code == SQLITE_NOMEM                              ? ENOMEM
                      : code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? EBADMSG
                                                                        : EIO,
                      "%.120s: %.120s", file ? file : "sqlite", sqlite3_errmsg(connection));
}

/* A new file is readable by its owner only, as it holds records of all users. */
static int touch(const char *path, bool writing, struct apapi_error *err)
{
    int flags = writing ? O_RDWR | O_CREAT : O_RDONLY;
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);

    if (fd < 0) {
        return apapi_fail(err, errno, "%.160s: %s", path, strerror(errno));
    }
    close(fd);
    return 0;
}

static void *db_sqlite_open_file(const struct db_address *address, bool writing,
                                 struct apapi_error *err)
{
    sqlite3 *connection = NULL;

    if (touch(address->database, writing, err)) {
        return NULL;
    }
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* its statistics need a lock for each allocation */
    if (sqlite3_open_v2(address->database, &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(connection, WAIT_MS) != SQLITE_OK) {
        db_sqlite_fail(connection, err);
        sqlite3_close(connection);
        return NULL;
    }
    return connection;
}

static void close_file(void *connection)
{
    sqlite3_close(connection);
}

static int db_sqlite_exec(void *connection, const char *sql, struct apapi_error *err)
{
    return sqlite3_exec(connection, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : db_sqlite_fail(connection, err);
}

static void *db_sqlite_prepare(void *connection, const char *sql, struct apapi_error *err)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v3(connection, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) !=
        SQLITE_OK) {
        db_sqlite_fail(connection, err);
    }
    return statement;
}

static void db_sqlite_finalize(void *statement)
{
    sqlite3_finalize(statement);
}

static int db_sqlite_bind(void *statement, size_t number, const struct db_value *value)
{
    int at = (int)number + 1, result = SQLITE_TOOBIG;

    switch (value->type) {
    case DB_NULL:
        result = sqlite3_bind_null(statement, at);
        break;
    case DB_INTEGER:
        result = sqlite3_bind_int64(statement, at, value->integer);
        break;
    case DB_REAL:
        result = sqlite3_bind_double(statement, at, value->real);
        break;
    case DB_TEXT:
    case DB_BYTES: /* JSON functions want a text, which is kept byte for byte */
        if (value->size <= INT_MAX) {
            result = sqlite3_bind_text(statement, at, value->text, (int)value->size, SQLITE_STATIC);
        }
        break;
    }
    return result == SQLITE_OK ? 0 : -1;
}

static int db_sqlite_step(void *statement, struct apapi_error *err)
{
    int result = sqlite3_step(statement);

    if (result == SQLITE_ROW) {
        return 1;
    }
    return result == SQLITE_DONE ? 0 : db_sqlite_fail(sqlite3_db_handle(statement), err);
}

static void db_sqlite_reset(void *statement)
{
    sqlite3_reset(statement);
}

static int64_t db_sqlite_changes(void *statement)
{
    return sqlite3_changes(sqlite3_db_handle(statement));
}

static struct db_value db_sqlite_column(void *statement, size_t number)
{
    int at = (int)number;

    switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
        return db_integer(sqlite3_column_int64(statement, at));
    case SQLITE_NULL:
        return db_text(NULL);
    default:
        return (struct db_value){.type = DB_TEXT,
                                 .text = (const char *)sqlite3_column_text(statement, at),
                                 .size = (size_t)sqlite3_column_bytes(statement, at)};
    }
}

#define SQLITE_JSON                                                                                \
    {                                                                                              \
        "json_extract(", ", '$.", "')"                                                             \
    }
#define SQLITE_COMPONENTS "records r, json_each(r.line, '$.components') c"

const struct db_driver db_sqlite = {
    /* the page size applies to new files */
    .settings = {"PRAGMA cache_size = -65536; PRAGMA query_only = 1",
                 "PRAGMA page_size = 32768; PRAGMA cache_size = -24576"},
    .begin = "BEGIN IMMEDIATE",
    .lock = NULL,
    .has_table = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = ?",
    .dialect = {.id_type = "INTEGER",
                .line_type = "TEXT",
                .text_end = "",
                .table_end = "",
                .skip = " ON CONFLICT DO NOTHING",
                .rows = 1,
                .view = {"CREATE VIEW IF NOT EXISTS ", " AS "},
                .json = {[DB_JSON_TEXT] = SQLITE_JSON,
                         [DB_JSON_REAL] = SQLITE_JSON,
                         [DB_JSON_INTEGER] = SQLITE_JSON,
                         [DB_JSON_FLAG] = SQLITE_JSON,
                         [DB_JSON_ANY] = SQLITE_JSON},
                .line = {"records r", NULL, "r.line"},
                .hour = {"hours r", NULL, "r.line"},
                .domains = {"records r, json_each(r.line, '$.domains') d", "d.key AS domain",
                            "d.value"},
                .components = {SQLITE_COMPONENTS, "c.key AS component", "c.value"},
                .events = {SQLITE_COMPONENTS ", json_each(c.value, '$.events') e",
                           "c.key AS component, e.key AS event", "e.value"}},
    .open = db_sqlite_open_file,
    .close = close_file,
    .exec = db_sqlite_exec,
    .prepare = db_sqlite_prepare,
    .finalize = db_sqlite_finalize,
    .bind = db_sqlite_bind,
    .step = db_sqlite_step,
    .reset = db_sqlite_reset,
    .changes = db_sqlite_changes,
    .column = db_sqlite_column};
