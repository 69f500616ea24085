/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_library.h"
#include "index/driver.h"

#define TIMEOUT_S 10 /* to connect */
#define TABLE_END " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"

/* The functions used of MariaDB's client library. It is loaded on demand, never linked. */
#define MARIADB_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(mysql_init)                                                                           \
    FUNCTION(mysql_options)                                                                        \
    FUNCTION(mysql_real_connect)                                                                   \
    FUNCTION(mysql_close)                                                                          \
    FUNCTION(mysql_query)                                                                          \
    FUNCTION(mysql_error)                                                                          \
    FUNCTION(mysql_fetch_fields)                                                                   \
    FUNCTION(mysql_free_result)                                                                    \
    FUNCTION(mysql_num_fields)                                                                     \
    FUNCTION(mysql_stmt_affected_rows)                                                             \
    FUNCTION(mysql_stmt_bind_param)                                                                \
    FUNCTION(mysql_stmt_bind_result)                                                               \
    FUNCTION(mysql_stmt_close)                                                                     \
    FUNCTION(mysql_stmt_error)                                                                     \
    FUNCTION(mysql_stmt_execute)                                                                   \
    FUNCTION(mysql_stmt_fetch)                                                                     \
    FUNCTION(mysql_stmt_fetch_column)                                                              \
    FUNCTION(mysql_stmt_free_result)                                                               \
    FUNCTION(mysql_stmt_init)                                                                      \
    FUNCTION(mysql_stmt_param_count)                                                               \
    FUNCTION(mysql_stmt_prepare)                                                                   \
    FUNCTION(mysql_stmt_result_metadata)

static struct mariadb_library {
#define FUNCTION(name) __typeof__(name) *(name);
    MARIADB_FUNCTIONS(FUNCTION)
#undef FUNCTION
} my;

static const struct library_symbol mariadb_symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL(#name, struct mariadb_library, name),
    MARIADB_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

/* A column. */
struct cell {
    enum db_type type; /* DB_INTEGER, DB_REAL, DB_TEXT */
    int64_t integer;
    double real;
    char *text; /* owned */
    unsigned long size, room;
    my_bool is_null;
};

struct mariadb_statement {
    MYSQL_STMT *stmt;
    size_t columns;
    MYSQL_BIND *in, *out;
    struct cell *cells;
    bool running; /* more rows may follow */
};

static int db_mariadb_fail(MYSQL *mysql, struct apapi_error *err)
{
    return apapi_fail(err, EIO, "MariaDB: %.220s", my.mysql_error(mysql));
}

static void db_mariadb_close(void *mysql)
{
    my.mysql_close(mysql);
}

static int db_mariadb_exec(void *mysql, const char *sql, struct apapi_error *err)
{
    return my.mysql_query(mysql, sql) ? db_mariadb_fail(mysql, err) : 0;
}

static void set_options(MYSQL *mysql, const char *option_file)
{
    const unsigned timeout_s = TIMEOUT_S, off = 0;

    if (option_file) {
        my.mysql_options(mysql, MYSQL_READ_DEFAULT_FILE, option_file);
    }
    my.mysql_options(mysql, MYSQL_READ_DEFAULT_GROUP, "client");
    my.mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
    my.mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
    my.mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
}

static int establish(MYSQL *mysql, const struct db_address *address, bool writing,
                     struct apapi_error *err)
{
    if (!my.mysql_real_connect(mysql, address->host, address->user, NULL, address->database,
                               address->port, address->socket, 0)) {
        return db_mariadb_fail(mysql, err);
    }
    /* a text that does not fit must be an error */
    return db_mariadb_exec(mysql, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES'", err) ||
                   (!writing && db_mariadb_exec(mysql, "SET SESSION TRANSACTION READ ONLY", err))
               ? -1
               : 0;
}

static void *db_mariadb_open(const struct db_address *address, bool writing,
                             struct apapi_error *err)
{
    struct apapi_error why;
    MYSQL *mysql;

    if (!my.mysql_init && shared_library_load(APAPI_MARIADB_LIBRARY, mariadb_symbols, &my, &why)) {
        apapi_fail(err, ENOTSUP, "no client library of MariaDB: %.200s", why.text);
        return NULL;
    }
    mysql = my.mysql_init(NULL);
    if (!mysql) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    set_options(mysql, address->option_file);
    if (establish(mysql, address, writing, err)) {
        my.mysql_close(mysql);
        return NULL;
    }
    return mysql;
}

/* --- statements ----------------------------------------------------------------------------- */

static int fail_statement(const struct mariadb_statement *statement, struct apapi_error *err)
{
    return apapi_fail(err, EIO, "MariaDB: %.220s", my.mysql_stmt_error(statement->stmt));
}

static void db_mariadb_finalize(void *handle)
{
    struct mariadb_statement *statement = handle;

    if (statement->stmt) {
        my.mysql_stmt_close(statement->stmt);
    }
    for (size_t i = 0; i < statement->columns && statement->cells; i++) {
        free(statement->cells[i].text);
    }
    free(statement->in);
    free(statement->out);
    free(statement->cells);
    free(statement);
}

static enum db_type db_mariadb_type_of(enum enum_field_types type)
{
    switch (type) {
    case MYSQL_TYPE_TINY:
    case MYSQL_TYPE_SHORT:
    case MYSQL_TYPE_INT24:
    case MYSQL_TYPE_LONG:
    case MYSQL_TYPE_LONGLONG:
        return DB_INTEGER;
    case MYSQL_TYPE_FLOAT:
    case MYSQL_TYPE_DOUBLE:
    case MYSQL_TYPE_DECIMAL:
    case MYSQL_TYPE_NEWDECIMAL:
        return DB_REAL;
    default:
        return DB_TEXT;
    }
}

static const enum enum_field_types mariadb_types[] = {[DB_NULL] = MYSQL_TYPE_NULL,
                                                      [DB_INTEGER] = MYSQL_TYPE_LONGLONG,
                                                      [DB_REAL] = MYSQL_TYPE_DOUBLE,
                                                      [DB_TEXT] = MYSQL_TYPE_STRING,
                                                      [DB_BYTES] = MYSQL_TYPE_BLOB};

static void point_at(MYSQL_BIND *bind, struct cell *cell)
{
    *bind = (MYSQL_BIND){.is_null = &cell->is_null, .length = &cell->size};
    bind->buffer_type = mariadb_types[cell->type];
    bind->buffer = cell->type == DB_INTEGER ? (void *)&cell->integer
                   : cell->type == DB_REAL  ? (void *)&cell->real
                                            : cell->text;
    bind->buffer_length = cell->room;
}

static int db_mariadb_allocate(struct mariadb_statement *statement)
{
    MYSQL_RES *result = my.mysql_stmt_result_metadata(statement->stmt);
    const MYSQL_FIELD *fields = result ? my.mysql_fetch_fields(result) : NULL;

    statement->columns = result ? my.mysql_num_fields(result) : 0;
    statement->in = calloc(my.mysql_stmt_param_count(statement->stmt) + 1, sizeof *statement->in);
    statement->out = calloc(statement->columns + 1, sizeof *statement->out);
    statement->cells = calloc(statement->columns + 1, sizeof *statement->cells);
    if (!statement->in || !statement->out || !statement->cells) {
        my.mysql_free_result(result);
        return -1;
    }
    for (size_t i = 0; i < statement->columns; i++) {
        statement->cells[i].type = db_mariadb_type_of(fields[i].type);
        point_at(&statement->out[i], &statement->cells[i]);
    }
    if (result) {
        my.mysql_free_result(result);
    }
    return 0;
}

static void *db_mariadb_prepare(void *mysql, const char *sql, struct apapi_error *err)
{
    struct mariadb_statement *statement = calloc(1, sizeof *statement);

    if (!statement) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    statement->stmt = my.mysql_stmt_init(mysql);
    if (!statement->stmt) {
        db_mariadb_fail(mysql, err);
    } else if (my.mysql_stmt_prepare(statement->stmt, sql, strlen(sql))) {
        fail_statement(statement, err);
    } else if (db_mariadb_allocate(statement)) {
        apapi_fail(err, ENOMEM, "no memory");
    } else {
        return statement;
    }
    db_mariadb_finalize(statement);
    return NULL;
}

static int db_mariadb_bind(void *handle, size_t number, const struct db_value *value)
{
    MYSQL_BIND *bind = &((struct mariadb_statement *)handle)->in[number];
    const void *at = value->type == DB_INTEGER ? (const void *)&value->integer
                     : value->type == DB_REAL  ? (const void *)&value->real
                                               : value->text;

    *bind = (MYSQL_BIND){.buffer_type = mariadb_types[value->type], .buffer_length = value->size};
    memcpy(&bind->buffer, &at, sizeof at); /* is only read */
    return 0;
}

static int execute(struct mariadb_statement *statement)
{
    if (my.mysql_stmt_bind_param(statement->stmt, statement->in) ||
        my.mysql_stmt_execute(statement->stmt)) {
        return -1;
    }
    if (statement->columns == 0) {
        return 0;
    }
    return my.mysql_stmt_bind_result(statement->stmt, statement->out) ? -1 : 0;
}

/* The fetch returned the sizes. The texts are fetched after memory for them was allocated. */
static int fetch_texts(struct mariadb_statement *statement)
{
    for (size_t i = 0; i < statement->columns; i++) {
        struct cell *cell = &statement->cells[i];
        MYSQL_BIND bind;

        if (cell->type != DB_TEXT || cell->is_null) {
            continue;
        }
        if (cell->size >= cell->room) {
            char *text = realloc(cell->text, cell->size + 1);

            if (!text) {
                return -1;
            }
            cell->text = text;
            cell->room = cell->size + 1;
        }
        point_at(&bind, cell);
        if (my.mysql_stmt_fetch_column(statement->stmt, &bind, (unsigned)i, 0)) {
            return -1;
        }
        cell->text[cell->size] = '\0';
    }
    return 0;
}

static void db_mariadb_reset(void *handle)
{
    struct mariadb_statement *statement = handle;

    if (statement->running) {
        my.mysql_stmt_free_result(statement->stmt);
        statement->running = false;
    }
}

static int db_mariadb_step(void *handle, struct apapi_error *err)
{
    struct mariadb_statement *statement = handle;
    int got;

    if (!statement->running && execute(statement)) {
        return fail_statement(statement, err);
    }
    if (statement->columns == 0) {
        return 0;
    }
    statement->running = true;
    got = my.mysql_stmt_fetch(statement->stmt);
    if (got == MYSQL_NO_DATA) {
        db_mariadb_reset(statement);
        return 0;
    }
    if ((got && got != MYSQL_DATA_TRUNCATED) || fetch_texts(statement)) {
        return fail_statement(statement, err);
    }
    return 1;
}

static int64_t db_mariadb_changes(void *handle)
{
    struct mariadb_statement *statement = handle;

    return (int64_t)my.mysql_stmt_affected_rows(statement->stmt);
}

static struct db_value db_mariadb_column(void *handle, size_t number)
{
    const struct cell *cell = &((struct mariadb_statement *)handle)->cells[number];

    if (cell->is_null) {
        return db_text(NULL);
    }
    return (struct db_value){.type = cell->type,
                             .integer = cell->integer,
                             .real = cell->real,
                             .text = cell->text,
                             .size = cell->size};
}

#define MARIADB_LINE "CONVERT(r.line USING utf8mb4)"
#define MARIADB_VALUE "JSON_VALUE("
#define MARIADB_PATH ", '$."
#define MARIADB_EACH(document, path, name)                                                         \
    ", JSON_TABLE(" document ", '" path "[*]' COLUMNS (number FOR ORDINALITY, value JSON PATH "    \
    "'$')) " name
#define MARIADB_COMPONENTS "records r" MARIADB_EACH(MARIADB_LINE, "$.components", "c")
/* names of members cannot be listed */
#define MARIADB_DOMAINS                                                                            \
    "records r JOIN (SELECT 'package' AS domain UNION SELECT 'core' UNION SELECT 'uncore' UNION "  \
    "SELECT 'dram' UNION SELECT 'psys' UNION SELECT 'gpu' UNION SELECT 'node') d ON "              \
    "JSON_EXISTS(" MARIADB_LINE ", CONCAT('$.domains.', d.domain))"

const struct db_driver db_mariadb = {
    .begin = "START TRANSACTION",
    .lock = "SET @apapi_lock = GET_LOCK(CONCAT('apapi.', DATABASE()), 60)",
    .has_table = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
                 "AND table_name = ?",
    .dialect = {.id_type = "BIGINT",
                .line_type = "LONGBLOB",
                .text_end = "",
                .table_end = TABLE_END,
                .skip = " ON DUPLICATE KEY UPDATE job = VALUES(job)",
                .rows = DB_ROWS_MAX,
                .view = {"CREATE VIEW IF NOT EXISTS ", " AS "},
                .json = {[DB_JSON_TEXT] = {MARIADB_VALUE, MARIADB_PATH, "')"},
                         [DB_JSON_REAL] = {"CAST(" MARIADB_VALUE, MARIADB_PATH, "') AS DOUBLE)"},
                         [DB_JSON_INTEGER] = {"CAST(" MARIADB_VALUE, MARIADB_PATH,
                                              "') AS DECIMAL(20))"},
                         [DB_JSON_FLAG] = {"CAST(" MARIADB_VALUE, MARIADB_PATH, "') AS SIGNED)"},
                         [DB_JSON_ANY] = {"JSON_QUERY(", MARIADB_PATH, "')"}},
                .line = {"records r", NULL, MARIADB_LINE},
                .hour = {"hours r", NULL, MARIADB_LINE},
                .domains = {MARIADB_DOMAINS, "d.domain",
                            "JSON_EXTRACT(" MARIADB_LINE ", CONCAT('$.domains.', d.domain))"},
                .components = {MARIADB_COMPONENTS, "c.number - 1 AS component", "c.value"},
                .events = {MARIADB_COMPONENTS MARIADB_EACH("c.value", "$.events", "e"),
                           "c.number - 1 AS component, e.number - 1 AS event", "e.value"}},
    .open = db_mariadb_open,
    .close = db_mariadb_close,
    .exec = db_mariadb_exec,
    .prepare = db_mariadb_prepare,
    .finalize = db_mariadb_finalize,
    .bind = db_mariadb_bind,
    .step = db_mariadb_step,
    .reset = db_mariadb_reset,
    .changes = db_mariadb_changes,
    .column = db_mariadb_column};
