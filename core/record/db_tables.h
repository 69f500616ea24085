/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_DB_TABLES_H
#define RECORD_DB_TABLES_H
#include "apapi/record.h"
#include "record/db.h"
#include "record/fields.h"

/*
 * The tables of a database of records, as docs/database.md describes them. Most columns are the
 * keys of a record, so they are made of the same lists.
 */

#define DB_VERSION 1
#define DB_KEYS 3
#define DB_PARTS 3
#define DB_FOLDER_SIZE 480 /* bytes of an accounting folder's path that is remembered */

struct db_table {
    const char *name;
    const char *keys[DB_KEYS];           /* integers that stand first; NULL: no more */
    const struct field *parts[DB_PARTS]; /* the columns behind them; NULL: no more */
    const char *text;                    /* a long text that stands last; NULL: none */
    const char *ending;                  /* constraints */
};

/** What a record's row has besides the record. */
struct db_derived {
    int64_t end_unix_ns;
    char day[12]; /* of the end, in UTC */
    double energy_j, uncertainty_j, mean_w;
    double domains_j[APAPI_DOMAINS];
};

/** A job's row. */
struct db_job {
    char cluster[64];
    uint32_t job;
    bool stale;               /* its records have changed since */
    struct apapi_identity id; /* of the record that knows it best */
    char day[12];
    int64_t start_unix_ns, end_unix_ns;
    uint32_t records, incomplete, steps, nodes;
    double energy_j, mean_w;
    uint64_t covered_ns;
    double domains_j[APAPI_DOMAINS];
};

extern const struct db_table db_records, db_domains, db_components, db_events, db_jobs;

/** Make what is not there, in a database of this version or an empty one. 0; -1 (ENOTSUP: later) */
int db_tables_create(struct db *db, struct apapi_error *err);

/** @return the statement that adds a row: keys, then parts, then text; NULL on error. */
struct db_statement *db_insert_prepare(struct db *db, const struct db_table *table,
                                       struct apapi_error *err);

struct db_row {
    const int64_t *keys;      /* as many as the table has */
    const void *const *bases; /* the structure of each part */
    struct db_value text;
};

/** Run it. */
int db_insert(struct db_statement *statement, const struct db_table *table,
              const struct db_row *row, struct apapi_error *err);

#endif
