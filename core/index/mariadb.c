/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <mysql.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/shared_library.h"
#include "index/driver.h"

#define TIMEOUT_S 10 /* for connecting */
/* A text that does not fit must be an error. */
#define SETTINGS "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ANSI_QUOTES'"
#define TABLE_END " ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin"

/* The functions used of MariaDB's client library. It is loaded on demand, never linked. */
#define MARIADB_FUNCTIONS(FUNCTION)                                                                \
    FUNCTION(mysql_init)                                                                           \
    FUNCTION(mysql_options)                                                                        \
    FUNCTION(mysql_real_connect)                                                                   \
    FUNCTION(mysql_close)                                                                          \
    FUNCTION(mysql_real_escape_string)                                                             \
    FUNCTION(mysql_set_character_set)                                                              \
    FUNCTION(mysql_real_query)                                                                     \
    FUNCTION(mysql_error)                                                                          \
    FUNCTION(mysql_use_result)                                                                     \
    FUNCTION(mysql_fetch_row)                                                                      \
    FUNCTION(mysql_fetch_fields)                                                                   \
    FUNCTION(mysql_fetch_lengths)                                                                  \
    FUNCTION(mysql_free_result)                                                                    \
    FUNCTION(mysql_affected_rows)

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

struct mariadb {
    MYSQL *mysql;
    /* of the statement that runs: */
    MYSQL_RES *rows; /* NULL: none are left */
    MYSQL_ROW row;
};

static int db_mariadb_fail(const struct mariadb *mariadb, struct apapi_error *err)
{
    return apapi_fail(err, EIO, "MariaDB: %.220s", my.mysql_error(mariadb->mysql));
}

static void db_mariadb_close(void *connection)
{
    struct mariadb *mariadb = connection;

    my.mysql_close(mariadb->mysql);
    free(mariadb);
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

static void *db_mariadb_open(const struct db_address *address, bool writing,
                             struct apapi_error *err)
{
    struct apapi_error why;
    struct mariadb *mariadb;

    (void)writing; /* settings[writing] allow or forbid writing */
    if (address->option_file && access(address->option_file, R_OK)) {
        apapi_fail(err, errno, "%.200s: %s", address->option_file, strerror(errno));
        return NULL;
    }
    if (!my.mysql_init && shared_library_load(APAPI_MARIADB_LIBRARY, mariadb_symbols, &my, &why)) {
        apapi_fail(err, ENOTSUP, "no client library of MariaDB: %.200s", why.text);
        return NULL;
    }
    mariadb = calloc(1, sizeof *mariadb);
    if (!mariadb || !(mariadb->mysql = my.mysql_init(NULL))) {
        free(mariadb);
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    set_options(mariadb->mysql, address->option_file);
    /* An option file may have chosen another character set than utf8mb4. The character set also
     * decides how texts are escaped. */
    if (!my.mysql_real_connect(mariadb->mysql, address->host, address->user, NULL,
                               address->database, address->port, address->socket, 0) ||
        my.mysql_set_character_set(mariadb->mysql, "utf8mb4")) {
        db_mariadb_fail(mariadb, err);
        db_mariadb_close(mariadb);
        return NULL;
    }
    return mariadb;
}

/* --- statements ----------------------------------------------------------------------------- */

static size_t db_mariadb_escape(void *connection, char *to, const struct db_value *value)
{
    return my.mysql_real_escape_string(((const struct mariadb *)connection)->mysql, to, value->text,
                                       value->size);
}

static int db_mariadb_send(void *connection, const struct db_sent *sent, struct apapi_error *err)
{
    struct mariadb *mariadb = connection;

    if (my.mysql_real_query(mariadb->mysql, sent->sql, sent->size)) {
        return db_mariadb_fail(mariadb, err);
    }
    mariadb->rows = my.mysql_use_result(mariadb->mysql);
    return *my.mysql_error(mariadb->mysql) ? db_mariadb_fail(mariadb, err) : 0;
}

static void db_mariadb_reset(void *connection)
{
    struct mariadb *mariadb = connection;

    if (mariadb->rows) {
        my.mysql_free_result(mariadb->rows);
        mariadb->rows = NULL;
    }
}

static int db_mariadb_step(void *connection, struct apapi_error *err)
{
    struct mariadb *mariadb = connection;

    mariadb->row = mariadb->rows ? my.mysql_fetch_row(mariadb->rows) : NULL;
    if (mariadb->row) {
        return 1;
    }
    return *my.mysql_error(mariadb->mysql) ? db_mariadb_fail(mariadb, err) : 0;
}

static int64_t db_mariadb_changes(void *connection)
{
    return (int64_t)my.mysql_affected_rows(((const struct mariadb *)connection)->mysql);
}

/* All values come as texts. */
static struct db_value db_mariadb_column(void *connection, size_t number)
{
    const struct mariadb *mariadb = connection;
    const char *text = mariadb->row[number];

    if (text && IS_NUM(my.mysql_fetch_fields(mariadb->rows)[number].type)) {
        return db_integer(strtoll(text, NULL, 10));
    }
    return (struct db_value){.type = text ? DB_TEXT : DB_NULL,
                             .text = text,
                             .size = my.mysql_fetch_lengths(mariadb->rows)[number]};
}

#define MARIADB_LINE "CONVERT(r.line USING utf8mb4)"
#define MARIADB_VALUE "JSON_VALUE("
#define MARIADB_PATH ", '$."
#define MARIADB_EACH(document, path, name)                                                         \
    ", JSON_TABLE(" document ", '" path "[*]' COLUMNS (number FOR ORDINALITY, value JSON PATH "    \
    "'$')) " name
#define MARIADB_COMPONENTS "records r" MARIADB_EACH(MARIADB_LINE, "$.components", "c")
/* MariaDB cannot list the names of a JSON object's members */
#define MARIADB_DOMAINS                                                                            \
    "records r JOIN (SELECT 'package' AS domain UNION SELECT 'core' UNION SELECT 'uncore' UNION "  \
    "SELECT 'dram' UNION SELECT 'psys' UNION SELECT 'gpu' UNION SELECT 'node') d ON "              \
    "JSON_EXISTS(" MARIADB_LINE ", CONCAT('$.domains.', d.domain))"

const struct db_driver db_mariadb = {
    .settings = {SETTINGS ", SESSION tx_read_only = 1", SETTINGS},
    .begin = "START TRANSACTION",
    .lock = "BEGIN NOT ATOMIC "
            "IF COALESCE(GET_LOCK(CONCAT('apapi.', DATABASE()), "
            "LEAST(60, @@innodb_lock_wait_timeout)), 0) = 0 THEN SIGNAL SQLSTATE '45000' "
            "SET MESSAGE_TEXT = 'another import is writing to this database'; END IF; END",
    .has_table = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() "
                 "AND table_name = ?",
    .dialect = {.id_type = "BIGINT",
                .line_type = "LONGBLOB",
                .text_end = "",
                .table_end = TABLE_END,
                /* NULL, an error: the row that exists is another one with this ID */
                .skip = " ON DUPLICATE KEY UPDATE id = IF(id = VALUES(id), NULL, id)",
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
    .escape = db_mariadb_escape,
    .send = db_mariadb_send,
    .step = db_mariadb_step,
    .reset = db_mariadb_reset,
    .changes = db_mariadb_changes,
    .column = db_mariadb_column};
