/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_BATCH_H
#define APAPI_DATABASE_DB_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/scan.h"

/**
 * Records on their way (opaque): what their rows need is copied, so that threads can read records
 * while another one writes. One thread at a time for each.
 */
struct db_batch;

/** Free. NULL is allowed. errno is preserved. */
void db_batch_destroy(struct db_batch *batch);

/** Add a record, decoded from `line`. 0; -1 with ENOMEM: it cannot be written any more. */
int db_batch_add(struct db_batch *batch, const struct apapi_record *record, const char *line,
                 size_t size);

/** Note that so much of a file of a folder has been read, the records of the batch with it. */
void db_batch_note(struct db_batch *batch, const char *folder, const struct apapi_scan_file *file,
                   uint64_t offset);

/** @return whether it is to be written before more is added. */
bool db_batch_full(const struct db_batch *batch);

/** @return whether there is nothing to write. */
bool db_batch_is_empty(const struct db_batch *batch);

#endif
