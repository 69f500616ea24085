/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shared_library.h"
#include "index/driver.h"

#define CONNECT_S "10"
#define NUMBER_SIZE 32
/* as in the catalogue of types, whose header is the server's */
enum { OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_FLOAT8 = 701 };

/* The functions used of PostgreSQL's client library. It is loaded on demand, never linked. */
#define POSTGRES_FUNCTIONS(FUNCTION)                                                               \
    FUNCTION(PQclear)                                                                              \
    FUNCTION(PQcmdTuples)                                                                          \
    FUNCTION(PQconnectdbParams)                                                                    \
    FUNCTION(PQerrorMessage)                                                                       \
    FUNCTION(PQexec)                                                                               \
    FUNCTION(PQfinish)                                                                             \
    FUNCTION(PQftype)                                                                              \
    FUNCTION(PQgetResult)                                                                          \
    FUNCTION(PQgetisnull)                                                                          \
    FUNCTION(PQgetlength)                                                                          \
    FUNCTION(PQgetvalue)                                                                           \
    FUNCTION(PQprepare)                                                                            \
    FUNCTION(PQresultStatus)                                                                       \
    FUNCTION(PQsendQueryPrepared)                                                                  \
    FUNCTION(PQsetSingleRowMode)                                                                   \
    FUNCTION(PQstatus)

static struct postgres_library {
#define FUNCTION(name) __typeof__(name) *(name);
    POSTGRES_FUNCTIONS(FUNCTION)
#undef FUNCTION
} pq;

static const struct library_symbol postgres_symbols[] = {
#define FUNCTION(name) LIBRARY_SYMBOL(#name, struct postgres_library, name),
    POSTGRES_FUNCTIONS(FUNCTION)
#undef FUNCTION
        {NULL, 0}};

struct postgres {
    PGconn *connection;
    unsigned statements; /* that were prepared */
    /* parameters of the statement that is about to run */
    char numbers[DB_VALUES_MAX][NUMBER_SIZE]; /* in text form */
    const char *values[DB_VALUES_MAX];
    int sizes[DB_VALUES_MAX], forms[DB_VALUES_MAX];
};

struct postgres_statement {
    struct postgres *postgres;
    char name[16];
    int parameters;
    PGresult *row; /* the present one; NULL: none */
    bool running;  /* more rows may follow */
    int64_t changes;
};

/* The first line of the server's message. */
static int db_postgres_fail(const struct postgres *postgres, struct apapi_error *err)
{
    const char *text = pq.PQerrorMessage(postgres->connection);
    const char *skipped = strncmp(text, "ERROR:  ", 8) == 0 ? text + 8 : text;

    return apapi_fail(err, EIO, "PostgreSQL: %.*s", (int)strcspn(skipped, "\n"), skipped);
}

static void db_postgres_close(void *handle)
{
    struct postgres *postgres = handle;

    pq.PQfinish(postgres->connection);
    free(postgres);
}

static int db_postgres_exec(void *handle, const char *sql, struct apapi_error *err)
{
    struct postgres *postgres = handle;
    PGresult *result = pq.PQexec(postgres->connection, sql);
    ExecStatusType status = pq.PQresultStatus(result);

    pq.PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK
               ? 0
               : db_postgres_fail(postgres, err);
}

static int postgres_connect(struct postgres *postgres, const struct db_address *address,
                            bool writing, struct apapi_error *err)
{
    static const char *const names[] = {"connect_timeout", "application_name", "dbname",
                                        "client_encoding", NULL};
    const char *const values[] = {CONNECT_S, "apapi", address->whole, "UTF8", NULL};

    postgres->connection = pq.PQconnectdbParams(names, values, 1);
    if (!postgres->connection) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    if (pq.PQstatus(postgres->connection) != CONNECTION_OK) {
        return db_postgres_fail(postgres, err);
    }
    return db_postgres_exec(postgres,
                            writing ? "SET client_min_messages = warning" /* no "skipping" */
                                    : "SET default_transaction_read_only = on",
                            err);
}

static void *db_postgres_open(const struct db_address *address, bool writing,
                              struct apapi_error *err)
{
    struct apapi_error why;
    struct postgres *postgres;

    if (!pq.PQexec && shared_library_load(APAPI_POSTGRES_LIBRARY, postgres_symbols, &pq, &why)) {
        apapi_fail(err, ENOTSUP, "no client library of PostgreSQL: %.200s", why.text);
        return NULL;
    }
    postgres = calloc(1, sizeof *postgres);
    if (!postgres) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    if (postgres_connect(postgres, address, writing, err)) {
        db_postgres_close(postgres);
        return NULL;
    }
    return postgres;
}

/* --- statements ----------------------------------------------------------------------------- */

static void db_postgres_reset(void *handle)
{
    struct postgres_statement *statement = handle;

    pq.PQclear(statement->row);
    statement->row = NULL;
    while (statement->running) {
        PGresult *result = pq.PQgetResult(statement->postgres->connection);

        statement->running = result != NULL;
        pq.PQclear(result);
    }
}

/* The server forgets a statement at the end of the connection, which is near. */
static void db_postgres_finalize(void *handle)
{
    struct postgres_statement *statement = handle;

    db_postgres_reset(statement);
    free(statement);
}

/* "?" as "$1". @return to be freed; NULL: out of memory */
static char *number_parameters(const char *sql, int *count)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (*count = 0; out && *sql; sql++) {
        if (*sql == '?') {
            fprintf(out, "$%d", ++*count);
        } else {
            fputc(*sql, out);
        }
    }
    if (!out || fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

static void *db_postgres_prepare(void *handle, const char *sql, struct apapi_error *err)
{
    struct postgres *postgres = handle;
    struct postgres_statement *statement = calloc(1, sizeof *statement);
    char *text = statement ? number_parameters(sql, &statement->parameters) : NULL;
    PGresult *result = NULL;

    if (!text) {
        apapi_fail(err, ENOMEM, "no memory");
    } else {
        statement->postgres = postgres;
        snprintf(statement->name, sizeof statement->name, "s%u", ++postgres->statements);
        result = pq.PQprepare(postgres->connection, statement->name, text, 0, NULL);
        if (pq.PQresultStatus(result) != PGRES_COMMAND_OK) {
            db_postgres_fail(postgres, err);
            free(text);
            text = NULL;
        }
    }
    if (!text) {
        free(statement);
        statement = NULL;
    }
    free(text);
    pq.PQclear(result);
    return statement;
}

static int db_postgres_bind(void *handle, size_t number, const struct db_value *value)
{
    struct postgres *postgres = ((struct postgres_statement *)handle)->postgres;
    char *text = postgres->numbers[number];

    postgres->values[number] = text;
    postgres->forms[number] = 0;
    switch (value->type) {
    case DB_NULL:
        postgres->values[number] = NULL;
        break;
    case DB_INTEGER:
        snprintf(text, NUMBER_SIZE, "%" PRId64, value->integer);
        break;
    case DB_REAL:
        snprintf(text, NUMBER_SIZE, "%.17g", value->real);
        break;
    default: /* its bytes */
        postgres->values[number] = value->text;
        postgres->sizes[number] = (int)value->size;
        postgres->forms[number] = 1;
    }
    return 0;
}

/* A row is a result of its own. @return 1: a row; 0: the last result; -1 */
static int fetch(struct postgres_statement *statement, struct apapi_error *err)
{
    PGresult *result = pq.PQgetResult(statement->postgres->connection);

    switch (pq.PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE:
        statement->row = result;
        return 1;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        statement->changes = strtoll(pq.PQcmdTuples(result), NULL, 10);
        pq.PQclear(result);
        db_postgres_reset(statement);
        return 0;
    default:
        pq.PQclear(result);
        db_postgres_fail(statement->postgres, err);
        db_postgres_reset(statement);
        errno = EIO;
        return -1;
    }
}

static int db_postgres_step(void *handle, struct apapi_error *err)
{
    struct postgres_statement *statement = handle;
    struct postgres *postgres = statement->postgres;

    if (!statement->running) {
        if (!pq.PQsendQueryPrepared(postgres->connection, statement->name, statement->parameters,
                                    postgres->values, postgres->sizes, postgres->forms, 1) ||
            !pq.PQsetSingleRowMode(postgres->connection)) {
            return db_postgres_fail(postgres, err);
        }
        statement->running = true;
    }
    pq.PQclear(statement->row);
    statement->row = NULL;
    return fetch(statement, err);
}

static int64_t db_postgres_changes(void *handle)
{
    return ((const struct postgres_statement *)handle)->changes;
}

/* Numbers come with their most significant byte first. */
static struct db_value db_postgres_column(void *handle, size_t number)
{
    const struct postgres_statement *statement = handle;
    int at = (int)number, size = pq.PQgetlength(statement->row, 0, at);
    const char *value = pq.PQgetvalue(statement->row, 0, at);
    uint64_t bits = 0;
    double real;

    if (pq.PQgetisnull(statement->row, 0, at)) {
        return db_text(NULL);
    }
    for (int i = 0; i < size && i < (int)sizeof bits; i++) {
        bits = bits << 8 | (unsigned char)value[i];
    }
    memcpy(&real, &bits, sizeof real);
    switch (pq.PQftype(statement->row, at)) {
    case OID_INT8:
        return db_integer((int64_t)bits);
    case OID_INT4:
        return db_integer((int32_t)bits);
    case OID_INT2:
        return db_integer((int16_t)bits);
    case OID_FLOAT8:
        return db_real(real);
    default:
        return (struct db_value){.type = DB_TEXT, .text = value, .size = (size_t)size};
    }
}

/* One conversion for all columns of a row: OFFSET keeps the query from being taken apart. */
#define POSTGRES_DOCUMENT(table)                                                                   \
    table " r CROSS JOIN LATERAL "                                                                 \
          "(SELECT CAST(convert_from(r.line, 'UTF8') AS jsonb) AS document OFFSET 0) l"
#define POSTGRES_EACH(list, name)                                                                  \
    " CROSS JOIN LATERAL jsonb_array_elements(" list ") WITH ORDINALITY AS " name " (value, "      \
    "number)"
#define POSTGRES_COMPONENTS                                                                        \
    POSTGRES_DOCUMENT("records") POSTGRES_EACH("l.document -> 'components'", "c")
#define POSTGRES_PATH " #>> string_to_array('"

const struct db_driver db_postgres = {
    .begin = "BEGIN",
    .lock = "SET lock_timeout = '60s'; SELECT "
            "pg_advisory_lock(hashtext('apapi ' || current_schema()))",
    .has_table =
        "SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND "
        "tablename = ?",
    .dialect = {.id_type = "BIGINT",
                .line_type = "BYTEA",
                .text_end = " COLLATE \"C\"",
                .table_end = "",
                .skip = " ON CONFLICT DO NOTHING",
                .rows = DB_ROWS_MAX,
                .view = {"CREATE OR REPLACE VIEW ", " WITH (security_invoker = true) AS "},
                .json = {[DB_JSON_TEXT] = {"(", POSTGRES_PATH, "', '.'))"},
                         [DB_JSON_REAL] = {"CAST(", POSTGRES_PATH, "', '.') AS DOUBLE PRECISION)"},
                         [DB_JSON_INTEGER] = {"CAST(", POSTGRES_PATH, "', '.') AS NUMERIC(20))"},
                         [DB_JSON_FLAG] = {"CAST(CAST(", POSTGRES_PATH,
                                           "', '.') AS BOOLEAN) AS INTEGER)"},
                         [DB_JSON_ANY] = {"(", " #> string_to_array('", "', '.'))"}},
                .line = {POSTGRES_DOCUMENT("records"), NULL, "l.document"},
                .hour = {POSTGRES_DOCUMENT("hours"), NULL, "l.document"},
                .domains = {POSTGRES_DOCUMENT(
                                "records") " CROSS JOIN LATERAL jsonb_each("
                                           "l.document -> 'domains') AS d (domain, value)",
                            "d.domain", "d.value"},
                .components = {POSTGRES_COMPONENTS, "c.number - 1 AS component", "c.value"},
                .events = {POSTGRES_COMPONENTS POSTGRES_EACH("c.value -> 'events'", "e"),
                           "c.number - 1 AS component, e.number - 1 AS event", "e.value"}},
    .open = db_postgres_open,
    .close = db_postgres_close,
    .exec = db_postgres_exec,
    .prepare = db_postgres_prepare,
    .finalize = db_postgres_finalize,
    .bind = db_postgres_bind,
    .step = db_postgres_step,
    .reset = db_postgres_reset,
    .changes = db_postgres_changes,
    .column = db_postgres_column};
