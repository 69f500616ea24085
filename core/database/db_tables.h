/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_TABLES_H
#define APAPI_DATABASE_DB_TABLES_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apapi/record.h"
#include "database/db.h"
#include "record/fields.h"
#include "record/hour.h"
#include "record/record.h"

/*
 * The tables of a database of records, see docs/database.md. Most columns are made from the same
 * lists as the keys of a record.
 */

#define DB_VERSION 9
#define DB_UPGRADED 2 /* the oldest version that an import brings up to date */
#define DB_KEYS 3
#define DB_PARTS 3
#define DB_FOLDER_SIZE 480 /* bytes of an accounting folder's path */

struct db_table {
    const char *name;
    const char *keys[DB_KEYS];           /* integers, the first columns; NULL: no more */
    const struct field *parts[DB_PARTS]; /* the next columns; NULL: no more */
    const char *text;                    /* a long text, the last column; NULL: none */
    const char *ending;                  /* constraints */
    bool id;                             /* the only key is the primary key */
    bool ordered;                        /* rows are stored in the order of the primary key */
};

/** Columns of a record's row that are calculated from the record. */
struct db_derived {
    int64_t end_unix_ns;
    char day[12]; /* of the end, in UTC */
    double energy_j, uncertainty_j, mean_w;
    double domains_j[APAPI_DOMAINS];
    bool gaps;                              /* the timeline does not cover its whole time */
    char unknown_domains[DOMAIN_LIST_SIZE]; /* "package,dram" */
};

/** Columns of a share's row. */
struct db_share {
    char method[APAPI_SHARE_WORD_SIZE];
    double energy_j, uncertainty_j; /* of the domains that add up */
};

/** A job's row. */
struct db_job {
    char cluster[64];
    uint32_t job;
    int64_t uid;              /* no column: whose records; 0: also of those that do not know it */
    struct apapi_identity id; /* of the record with the best identity */
    char day[12];
    int64_t start_unix_ns, end_unix_ns;
    uint32_t records, incomplete, steps, nodes;
    double energy_j, uncertainty_j, mean_w;
    uint64_t covered_ns, elapsed_ns;
    double node_s;
    uint32_t runs;
    double domains_j[APAPI_DOMAINS];
    char missing_domains[DOMAIN_LIST_SIZE]; /* "package,dram": those that energy_j lacks */
    bool with_nameless; /* no column: records without a cluster belong to it, too */
};

/** Whether a column is part of its row's key. Unknown is "" or 0 there: two NULLs are not equal. */
bool db_is_key(const struct field *field);

/** Write the name of a column. */
void db_name_write(FILE *sql, const struct field *field);

extern const struct db_table db_records, db_timelines, db_regions, db_shares, db_hours, db_domains,
    db_components, db_events, db_jobs, db_stale;

/** Create the tables in an empty database. 0; -1 (ENOTSUP: tables of another version exist) */
int db_tables_create(struct db *db, struct apapi_error *err);

/** Create the postponed indexes. */
int db_tables_finish(struct db *db, struct apapi_error *err);

/**
 * Check the tables before reading.
 * @return 0; -1 with errno ENOENT (no tables), ENOTSUP (another version), or as in db.h
 */
int db_tables_check(struct db *db, struct apapi_error *err);

#endif
