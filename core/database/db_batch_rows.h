/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_BATCH_ROWS_H
#define APAPI_DATABASE_DB_BATCH_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "database/db_row.h"
#include "database/db_tables.h"

/* The content of a batch, for db_load.c: rows, and how far files were read. */

enum db_batch_table {
    BATCH_RECORDS,
    BATCH_TIMELINES,
    BATCH_REGIONS,
    BATCH_SHARES,
    BATCH_DOMAINS,
    BATCH_COMPONENTS,
    BATCH_EVENTS,
    BATCH_TABLES
};

#define BATCH_FILES 64

/* A row. Its first value, the record's ID, is set later. */
struct batch_row {
    enum db_batch_table table;
    size_t first; /* of its values */
};

struct batch_file {
    char folder[DB_FOLDER_SIZE + 1], day[12], name[256];
    uint64_t offset;
};

struct db_batch {
    struct db_insert *const *inserts; /* of BATCH_TABLES */
    bool with_events;
    size_t record_count;
    struct batch_row *rows; /* each record followed by the rows that belong to it */
    size_t row_count, row_room;
    struct db_value *values; /* the `integer` of a text is its offset in `texts` */
    size_t value_count, value_room;
    char *texts;
    size_t text_size, text_room;
    struct batch_file files[BATCH_FILES];
    size_t file_count;
};

/** @return NULL: out of memory. */
struct db_batch *batch_create(struct db_insert *const *inserts, bool with_events);

/** Nothing more is added: set the pointers of all texts. */
void batch_settle(struct db_batch *batch);

void batch_empty(struct db_batch *batch);

#endif
