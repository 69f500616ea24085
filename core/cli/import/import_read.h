/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_IMPORT_READ_H
#define APAPI_IMPORT_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "database/db_load.h"

/** What to import. */
struct import_input {
    const char *dir;        /* accounting folder */
    char *const *files;     /* read instead; "-": standard input; a folder: an accounting folder */
    size_t file_count;      /* 0: read the folder */
    int64_t from_ns, to_ns; /* limits of a record's end [ns since 1970]; 0: no limit */
    unsigned threads;       /* that decode records */
    bool verbose;           /* report each skipped line */
};

struct import_counts {
    size_t records,
        left_out; /* left_out: lines that are not records, and files that cannot be read */
};

/**
 * Read records into a database. Of the files in a folder, only what is new since the last import is
 * read, unless there is a time limit.
 * @param load  NULL: only count
 * @return 0; -1 with errno and `err`. What was committed stays.
 */
int import_read(const struct import_input *input, struct db_load *load,
                struct import_counts *counts, struct apapi_error *err);

#endif
