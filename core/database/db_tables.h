/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_TABLES_H
#define APAPI_DATABASE_DB_TABLES_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/record.h"
#include "database/db.h"
#include "record/fields.h"

/*
 * The tables of a database of records, as docs/database.md describes them. Most columns are the
 * keys of a record, so they are made of the same lists.
 */

#define DB_VERSION 3
#define DB_KEYS 3
#define DB_PARTS 3
#define DB_FOLDER_SIZE 480 /* bytes of an accounting folder's path that is remembered */

struct db_table {
    const char *name;
    const char *keys[DB_KEYS];           /* integers that stand first; NULL: no more */
    const struct field *parts[DB_PARTS]; /* the columns behind them; NULL: no more */
    const char *text;                    /* a long text that stands last; NULL: none */
    const char *ending;                  /* constraints */
    bool id;                             /* the only key is the primary key */
    bool ordered;                        /* rows lie in the order of the primary key */
};

/** What a record's row has besides the record. */
struct db_derived {
    int64_t end_unix_ns;
    char day[12]; /* of the end, in UTC */
    double energy_j, uncertainty_j, mean_w;
    double domains_j[APAPI_DOMAINS];
    bool gaps; /* the timeline does not know all of its time */
};

/** A job's row. */
struct db_job {
    char cluster[64];
    uint32_t job;
    struct apapi_identity id; /* of the record that knows it best */
    char day[12];
    int64_t start_unix_ns, end_unix_ns;
    uint32_t records, incomplete, steps, nodes;
    double energy_j, mean_w;
    uint64_t covered_ns;
    double domains_j[APAPI_DOMAINS];
    bool with_nameless; /* no column: records that do not name their cluster are its, too */
};

/** Whether a column is of its row's key. Unknown is "" and 0 there: two NULLs would not be equal.
 */
bool db_is_key(const struct field *field);

/** Write the name of a column. */
void db_name_write(FILE *sql, const struct field *field);

extern const struct db_table db_records, db_timelines, db_domains, db_components, db_events,
    db_jobs, db_stale;

/** Make the tables in a database that has none. 0; -1 (ENOTSUP: there are those of another version)
 */
int db_tables_create(struct db *db, struct apapi_error *err);

/** Make the indexes that were left for later. */
int db_tables_finish(struct db *db, struct apapi_error *err);

/**
 * For those who only read.
 * @return 0: the tables are there and of this version; -1 with errno ENOENT (there are none),
 *         ENOTSUP (another version), or as in db.h
 */
int db_tables_check(struct db *db, struct apapi_error *err);

#endif
