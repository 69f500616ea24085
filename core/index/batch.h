/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_INDEX_BATCH_H
#define APAPI_INDEX_BATCH_H
#include "index/tables.h"
#include "sum/sum.h"

/* Decoded records with their lines, which are loaded at once. One thread at a time. */

#define BATCH_FILES 64

/** How far a file was read. */
struct batch_file {
    char folder[DB_FOLDER_SIZE + 1], day[12], name[256];
    uint64_t offset;
};

struct db_batch {
    struct db_record records[DB_ROWS_MAX];
    size_t line_at[DB_ROWS_MAX];         /* in `text` */
    uint32_t curves_at[DB_ROWS_MAX + 1]; /* in `sums` */
    size_t count;
    char *text;
    size_t text_size, text_room;
    struct sum_store sums; /* its pieces are the records */
    struct batch_file files[BATCH_FILES];
    size_t file_count;
};

struct batch_file batch_file(const char *folder, const struct apapi_scan_file *file,
                             uint64_t offset);

#endif
