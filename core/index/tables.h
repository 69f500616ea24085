/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_TABLES_H
#define APAPI_INDEX_TABLES_H
#include "apapi/job.h"
#include "apapi/record.h"
#include "index/db.h"
#include "index/index.h"
#include "record/record.h"

/* The tables of a database of records, see docs/database.md. */

#define DB_FOLDER_SIZE 480 /* bytes of an accounting folder's path */
#define DB_FILE_SIZE 256
#define DB_VERSION 11

struct db_line {
    const char *text;
    size_t size;
};

/** A table whose columns are members of a structure. An unknown value is NULL if its field is not
 * mandatory; an unknown number that is mandatory is -1, because two NULLs are not equal. */
struct db_table {
    const char *name;
    const struct field *fields;
    const char *ending; /* constraints */
};

/** A row of `records`. */
struct db_record {
    int64_t id;
    struct apapi_identity who;
    bool complete;
    char day[12]; /* of the end, in UTC */
    int64_t start_ns, end_ns;
    double elapsed_s, energy_j, uncertainty_j, mean_w, domains_j[APAPI_DOMAINS];
    struct db_line line;
};

/** A row of `jobs`. */
struct db_job {
    struct apapi_identity who; /* as all records together know it */
    uint32_t uid;              /* 0: not known */
    char day[12];
    struct apapi_job_total total;           /* node_s is NaN without time */
    char missing_domains[DOMAIN_LIST_SIZE]; /* "package,dram" */
};

/** A row of `hours`. */
struct db_hour {
    struct hour hour;
    struct db_line line;
};

/* db_twins: rows as in db_records, of records that came twice and do not count */
extern const struct db_table db_records, db_twins, db_jobs, db_hours;

/** The values of a row, in the order of the table's fields. @return how many. Texts belong to the
 * structure. */
size_t db_row(const struct db_table *table, const void *base, struct db_value values[]);

/** Write "INSERT INTO table (columns) VALUES (?, ...), ..." for this number of rows. */
void db_insert_write(FILE *sql, const struct db_table *table, size_t rows);

/**
 * Create the tables in an empty database.
 * @return 0; -1 (ENOTSUP: tables of another version exist)
 */
int db_tables_create(struct db *db, struct apapi_error *err);

/**
 * Check the tables before reading.
 * @return 0; -1 with errno ENOENT (no tables), ENOTSUP (another version), or as in db.h
 */
int db_tables_check(struct db *db, struct apapi_error *err);

#endif
