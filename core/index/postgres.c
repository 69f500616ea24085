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
/* as in PostgreSQL's catalogue of types, whose header comes with the server only */
enum { OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23 };

/* The functions used of PostgreSQL's client library. It is loaded on demand, never linked. */
#define POSTGRES_FUNCTIONS(FUNCTION)                                                               \
    FUNCTION(PQclear)                                                                              \
    FUNCTION(PQcmdTuples)                                                                          \
    FUNCTION(PQconnectdbParams)                                                                    \
    FUNCTION(PQerrorMessage)                                                                       \
    FUNCTION(PQfinish)                                                                             \
    FUNCTION(PQftype)                                                                              \
    FUNCTION(PQgetResult)                                                                          \
    FUNCTION(PQgetisnull)                                                                          \
    FUNCTION(PQgetlength)                                                                          \
    FUNCTION(PQgetvalue)                                                                           \
    FUNCTION(PQparameterStatus)                                                                    \
    FUNCTION(PQresultStatus)                                                                       \
    FUNCTION(PQsendQueryParams)                                                                    \
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
    /* of the statement that runs: */
    PGresult *row; /* the present row; NULL: none */
    bool running;  /* more rows may follow */
    int64_t changes;
};

/* Fail with the first line of the server's message. */
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

static void *db_postgres_open(const struct db_address *address, bool writing,
                              struct apapi_error *err)
{
    static const char *const names[] = {"connect_timeout", "application_name", "dbname",
                                        "client_encoding", NULL};
    const char *const values[] = {CONNECT_S, "apapi", address->whole, "UTF8", NULL};
    struct apapi_error why;
    struct postgres *postgres;
    const char *encoding;

    (void)writing; /* settings[writing] allow or forbid writing */
    if (!pq.PQfinish && shared_library_load(APAPI_POSTGRES_LIBRARY, postgres_symbols, &pq, &why)) {
        apapi_fail(err, ENOTSUP, "no client library of PostgreSQL: %.200s", why.text);
        return NULL;
    }
    postgres = calloc(1, sizeof *postgres);
    if (!postgres || !(postgres->connection = pq.PQconnectdbParams(names, values, 1))) {
        free(postgres);
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    if (pq.PQstatus(postgres->connection) != CONNECTION_OK) {
        db_postgres_fail(postgres, err);
        db_postgres_close(postgres);
        return NULL;
    }
    encoding = pq.PQparameterStatus(postgres->connection, "server_encoding");
    if (encoding && strcmp(encoding, "UTF8") != 0) {
        apapi_fail(err, ENOTSUP, "PostgreSQL: this database has the encoding %.60s, not UTF8",
                   encoding);
        db_postgres_close(postgres);
        return NULL;
    }
    return postgres;
}

/* --- statements ----------------------------------------------------------------------------- */

static int db_postgres_send(void *handle, const struct db_sent *sent, struct apapi_error *err)
{
    struct postgres *postgres = handle;
    const char *values[DB_VALUES_MAX];
    int sizes[DB_VALUES_MAX], forms[DB_VALUES_MAX];

    for (size_t i = 0; i < sent->count; i++) {
        values[i] = sent->texts[i]->text;
        sizes[i] = (int)sent->texts[i]->size;
        forms[i] = 1; /* binary, as the values of the result are */
    }
    if (!pq.PQsendQueryParams(postgres->connection, sent->sql, (int)sent->count, NULL, values,
                              sizes, forms, 1) ||
        !pq.PQsetSingleRowMode(postgres->connection)) {
        return db_postgres_fail(postgres, err);
    }
    postgres->running = true;
    return 0;
}

static void db_postgres_reset(void *handle)
{
    struct postgres *postgres = handle;

    pq.PQclear(postgres->row);
    postgres->row = NULL;
    while (postgres->running) {
        PGresult *result = pq.PQgetResult(postgres->connection);

        postgres->running = result != NULL;
        pq.PQclear(result);
    }
}

/* In single-row mode, each row is a result of its own. */
static int db_postgres_step(void *handle, struct apapi_error *err)
{
    struct postgres *postgres = handle;

    pq.PQclear(postgres->row);
    postgres->row = pq.PQgetResult(postgres->connection);
    switch (pq.PQresultStatus(postgres->row)) {
    case PGRES_SINGLE_TUPLE:
        return 1;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        postgres->changes = strtoll(pq.PQcmdTuples(postgres->row), NULL, 10);
        return 0;
    default:
        return db_postgres_fail(postgres, err);
    }
}

static int64_t db_postgres_changes(void *handle)
{
    return ((const struct postgres *)handle)->changes;
}

/* Numbers come with their most significant byte first. */
static struct db_value db_postgres_column(void *handle, size_t number)
{
    const struct postgres *postgres = handle;
    int at = (int)number, size = pq.PQgetlength(postgres->row, 0, at);
    const char *value = pq.PQgetvalue(postgres->row, 0, at);
    Oid type = pq.PQftype(postgres->row, at);
    uint64_t bits = *value & 0x80 ? UINT64_MAX : 0;

    if (pq.PQgetisnull(postgres->row, 0, at)) {
        return db_text(NULL);
    }
    if (type != OID_INT8 && type != OID_INT4 && type != OID_INT2) {
        return (struct db_value){.type = DB_TEXT, .text = value, .size = (size_t)size};
    }
    for (int i = 0; i < size; i++) {
        bits = bits << 8 | (unsigned char)value[i];
    }
    return db_integer((int64_t)bits);
}

/* Convert a line once for all columns of a row: OFFSET keeps the subquery from being flattened. */
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
    .settings = {"SET default_transaction_read_only = on",
                 "SELECT set_config('client_min_messages', 'warning', false), " /* no "skipping" */
                 "set_config('lock_timeout', '60s', false)"},
    .begin = "BEGIN",
    .lock = "SELECT pg_advisory_lock(hashtext('apapi ' || current_schema()))",
    .has_table =
        "SELECT COUNT(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND "
        "tablename = ?",
    .dialect = {.id_type = "BIGINT",
                .line_type = "BYTEA",
                .text_end = " COLLATE \"C\"",
                .table_end = "",
                .skip = " ON CONFLICT (job, cluster, node, start_ns, step) DO NOTHING",
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
    .send = db_postgres_send,
    .step = db_postgres_step,
    .reset = db_postgres_reset,
    .changes = db_postgres_changes,
    .column = db_postgres_column};
