/* SPDX-License-Identifier: BSD-3-Clause */
#include "index/db.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

#define PORT_MAX 65535

struct db {
    const struct db_driver *driver;
    void *connection;
};

struct db_statement {
    const struct db_driver *driver;
    void *handle; /* the driver's statement, or the connection to a server */
    char *sql;    /* text for a server; NULL: the driver has prepared the statement */
};

/* --- URLs ----------------------------------------------------------------------------------- */

static char *db_cut(char *text, char at)
{
    char *found = strchr(text, at);

    if (!found) {
        return NULL;
    }
    *found = '\0';
    return found + 1;
}

static const char *non_empty(const char *text)
{
    return text && *text ? text : NULL;
}

/* "socket=PATH&option-file=PATH" */
static int parse_query(char *query, struct db_address *address, struct apapi_error *err)
{
    char *next;

    for (; query && *query; query = next) {
        char *value;

        next = db_cut(query, '&');
        value = db_cut(query, '=');
        if (strcmp(query, "socket") == 0 && non_empty(value)) {
            address->socket = value;
        } else if (strcmp(query, "option-file") == 0 && non_empty(value)) {
            address->option_file = value;
        } else {
            return apapi_fail(err, EINVAL,
                              "--db: '%.60s' after '?': only socket=PATH and "
                              "option-file=PATH are valid",
                              query);
        }
    }
    return 0;
}

/* "[::1]:3306", "host", "host:3306" */
static int parse_host(char *host, struct db_address *address, struct apapi_error *err)
{
    char *port;

    if (*host == '[') {
        host++;
        port = db_cut(host, ']');
        if (!port || (*port && *port != ':')) {
            return apapi_fail(err, EINVAL, "--db: write an IPv6 address as [::1]");
        }
        port = *port ? port + 1 : NULL;
    } else {
        port = db_cut(host, ':');
    }
    address->host = non_empty(host);
    address->port = port ? (unsigned)positive_number(port, PORT_MAX) : 0;
    return port && !address->port ? apapi_fail(err, EINVAL, "--db: '%.60s' is not a port", port)
                                  : 0;
}

static int refuse_password(const char *place, struct apapi_error *err)
{
    return apapi_fail(err, EINVAL,
                      "--db: no password on the command line, where everyone sees it: it belongs "
                      "into %s",
                      place);
}

static int parse_mysql(char *rest, struct db_address *address, struct apapi_error *err)
{
    char *query = db_cut(rest, '?'), *database = db_cut(rest, '/'), *host = db_cut(rest, '@');

    if (host && strchr(rest, ':')) {
        return refuse_password("[client] of ~/.my.cnf or of ?option-file=PATH", err);
    }
    address->user = host ? non_empty(rest) : NULL;
    address->database = non_empty(database);
    if (!address->database || strchr(database, '/')) {
        return apapi_fail(err, EINVAL, "--db: which database? write it as mysql://host/database");
    }
    return parse_query(query, address, err) || parse_host(host ? host : rest, address, err) ? -1
                                                                                            : 0;
}

/* Check a URL. libpq parses the rest of it. */
static int parse_postgres(char *rest, struct db_address *address, struct apapi_error *err)
{
    const char *database = strchr(rest, '/'), *query = strchr(rest, '?');
    size_t authority = strcspn(rest, "/?");
    const char *host = memchr(rest, '@', authority);

    if ((host && memchr(rest, ':', (size_t)(host - rest))) ||
        (query && strstr(query, "password="))) {
        return refuse_password("~/.pgpass", err);
    }
    if (!database || (query && query < database) || !database[1] || database[1] == '?') {
        return apapi_fail(err, EINVAL,
                          "--db: which database? write it as postgresql://host/database");
    }
    address->database = database + 1;
    return 0;
}

static int parse_sqlite(char *rest, struct db_address *address, struct apapi_error *err)
{
    address->database = rest;
    return *rest ? 0 : apapi_fail(err, EINVAL, "--db: which file? write it as sqlite:FILE");
}

static const struct {
    const char *scheme;
    int (*parse)(char *rest, struct db_address *address, struct apapi_error *err);
    const struct db_driver *driver; /* NULL: apapi was built without this database */
} schemes[] = {
    {"sqlite:", parse_sqlite, &db_sqlite},
#ifdef APAPI_MARIADB_LIBRARY
    {"mysql://", parse_mysql, &db_mariadb},          {"mariadb://", parse_mysql, &db_mariadb},
#else
    {"mysql://", parse_mysql, NULL},         {"mariadb://", parse_mysql, NULL},
#endif
#ifdef APAPI_POSTGRES_LIBRARY
    {"postgresql://", parse_postgres, &db_postgres}, {"postgres://", parse_postgres, &db_postgres},
#else
    {"postgresql://", parse_postgres, NULL}, {"postgres://", parse_postgres, NULL},
#endif
};

/* Parse `url`, a copy of `whole`, which is changed; `address` points into both. */
static const struct db_driver *parse_url(const char *whole, char *url, struct db_address *address,
                                         struct apapi_error *err)
{
    *address = (struct db_address){.whole = whole};
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        size_t size = strlen(schemes[i].scheme);

        if (strncmp(url, schemes[i].scheme, size) != 0) {
            continue;
        }
        if (schemes[i].parse(url + size, address, err)) {
            return NULL;
        }
        if (!schemes[i].driver) {
            apapi_fail(err, ENOTSUP, "apapi was built without %s: use sqlite:FILE",
                       *url == 'm' ? "MariaDB (WITH_MARIADB)" : "PostgreSQL (WITH_POSTGRES)");
        }
        return schemes[i].driver;
    }
    apapi_fail(err, EINVAL,
               "--db: '%.60s' is not a database: write sqlite:FILE, "
               "mysql://[user@][host[:port]]/database[?socket=PATH][&option-file=PATH] or "
               "postgresql://[user@][host[:port]]/database",
               whole);
    return NULL;
}

/* --- connections ---------------------------------------------------------------------------- */

int db_connect(const char *url, bool writing, struct db **db, struct apapi_error *err)
{
    struct db *opened = calloc(1, sizeof *opened);
    char *copy = strdup(url);
    struct db_address address;

    if (opened && copy) {
        opened->driver = parse_url(url, copy, &address, err);
        opened->connection = opened->driver ? opened->driver->open(&address, writing, err) : NULL;
    } else {
        apapi_fail(err, ENOMEM, "no memory");
    }
    free(copy);
    if (!opened || !opened->connection || db_exec(opened, opened->driver->settings[writing], err)) {
        db_close(opened);
        return -1;
    }
    *db = opened;
    return 0;
}

void db_close(struct db *db)
{
    int saved = errno;

    if (db && db->connection) {
        db->driver->close(db->connection);
    }
    free(db);
    errno = saved;
}

int db_exec(struct db *db, const char *sql, struct apapi_error *err)
{
    struct db_sent sent = {.sql = sql, .size = strlen(sql)};
    struct db_statement statement = {.driver = db->driver, .handle = db->connection};
    int got;

    if (db->driver->exec) {
        return db->driver->exec(db->connection, sql, err);
    }
    got = db->driver->send(db->connection, &sent, err) ? -1 : db_step(&statement, err);
    db_end(&statement);
    return got < 0 ? -1 : 0;
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

const struct db_dialect *db_dialect(const struct db *db)
{
    return &db->driver->dialect;
}

/* --- statements ----------------------------------------------------------------------------- */

struct db_statement *db_prepare(struct db *db, const char *sql, struct apapi_error *err)
{
    const struct db_driver *driver = db->driver;
    struct db_statement *statement = calloc(1, sizeof *statement);

    if (!statement || (driver->send && !(statement->sql = strdup(sql)))) {
        free(statement);
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    statement->driver = driver;
    statement->handle = driver->send ? db->connection : driver->prepare(db->connection, sql, err);
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

int db_exec_stream(struct db *db, FILE *sql, char **text, struct apapi_error *err)
{
    int result =
        sql && fclose(sql) == 0 ? db_exec(db, *text, err) : apapi_fail(err, ENOMEM, "no memory");

    free(*text);
    return result;
}

void db_finalize(struct db_statement *statement)
{
    if (!statement) {
        return;
    }
    db_end(statement);
    if (!statement->sql) {
        statement->driver->finalize(statement->handle);
    }
    free(statement->sql);
    free(statement);
}

/* Write a text or bytes between quotes, as the server's library escapes them. */
static int put_quoted(FILE *out, const struct db_statement *statement, const struct db_value *value)
{
    char *escaped = malloc(2 * value->size + 1);

    if (!escaped) {
        return -1;
    }
    fputs(value->type == DB_BYTES ? "_binary'" : "'", out);
    fwrite(escaped, 1, statement->driver->escape(statement->handle, escaped, value), out);
    putc_unlocked('\'', out);
    free(escaped);
    return 0;
}

static int put_value(FILE *out, const struct db_statement *statement, const struct db_value *value,
                     struct db_sent *sent)
{
    switch (value->type) {
    case DB_NULL:
        fputs("NULL", out);
        return 0;
    case DB_INTEGER:
        fprintf(out, "%" PRId64, value->integer);
        return 0;
    case DB_REAL:
        fprintf(out, "%.16e", value->real);
        return 0;
    default:
        if (statement->driver->escape) {
            return put_quoted(out, statement, value);
        }
        sent->texts[sent->count++] = value;
        fprintf(out, "$%zu", sent->count);
        return 0;
    }
}

/* Have a server run a statement. */
static int db_send(const struct db_statement *statement, const struct db_value *values,
                   struct apapi_error *err)
{
    struct db_sent sent = {.count = 0};
    char *text = NULL;
    FILE *out = open_memstream(&text, &sent.size);
    int result = 0;

    for (const char *at = statement->sql; out && *at && result == 0; at++) {
        if (*at != '?') {
            putc_unlocked(*at, out);
        } else {
            result = put_value(out, statement, values++, &sent);
        }
    }
    sent.sql = text_of_stream(out, &text, result);
    result = sent.sql ? statement->driver->send(statement->handle, &sent, err)
                      : apapi_fail(err, ENOMEM, "no memory");
    free(text);
    return result;
}

int db_first(struct db_statement *statement, const struct db_value *values, size_t count,
             struct apapi_error *err)
{
    if (statement->sql && db_send(statement, values, err)) {
        return -1;
    }
    for (size_t i = 0; i < count && !statement->sql; i++) {
        if (statement->driver->bind(statement->handle, i, &values[i])) {
            return apapi_fail(err, ENOMEM, "no memory");
        }
    }
    return db_step(statement, err);
}

int db_step(struct db_statement *statement, struct apapi_error *err)
{
    int got = statement->driver->step(statement->handle, err);

    if (got <= 0) {
        db_end(statement);
    }
    return got;
}

void db_end(struct db_statement *statement)
{
    int saved = errno;

    statement->driver->reset(statement->handle);
    errno = saved;
}

int64_t db_run(struct db_statement *statement, const struct db_value *values, size_t count,
               struct apapi_error *err)
{
    int got = db_first(statement, values, count, err);
    int64_t changes = got < 0 ? -1 : statement->driver->changes(statement->handle);

    db_end(statement);
    return changes;
}

struct db_value db_column(struct db_statement *statement, size_t number)
{
    return statement->driver->column(statement->handle, number);
}
