/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_IMPORT_READ_H
#define APAPI_IMPORT_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/error.h"
#include "database/db_load.h"

/** What is to be imported. */
struct import_input {
    const char *dir;        /* accounting folder */
    char *const *files;     /* in its place; "-": standard input; a folder: an accounting folder */
    size_t file_count;      /* 0: the folder */
    int64_t from_ns, to_ns; /* when the record ended [ns since 1970]; 0: no limit */
    unsigned threads;       /* that decode */
    bool verbose;           /* each line that is skipped is told */
};

struct import_counts {
    size_t records, left_out; /* left out: lines that are no record, files that cannot be read */
};

/**
 * Read records into a database; of the files of a folder, unless there is a limit of time, what
 * has come since the last time.
 * @param load  NULL: they are counted only
 * @return 0; -1 with errno and `err`. What was committed meanwhile stays.
 */
int import_read(const struct import_input *input, struct db_load *load,
                struct import_counts *counts, struct apapi_error *err);

#endif
