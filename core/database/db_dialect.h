/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_DIALECT_H
#define APAPI_DATABASE_DB_DIALECT_H
#include <stdbool.h>
#include <stddef.h>

/** What differs in a database's SQL. */
struct db_dialect {
    const char *id_type;           /* the type of an auto-increment key */
    const char *table_end;         /* the end of CREATE TABLE ... */
    const char *ordered_table_end; /* ... of a table stored in the order of its primary key */
    const char *skip;   /* the end of an INSERT that skips existing rows, with a column `job` */
    size_t rows;        /* that one INSERT should have: 1 to DB_ROWS_MAX */
    bool indexes_later; /* it is faster to create indexes after the rows were added */
};

#endif
