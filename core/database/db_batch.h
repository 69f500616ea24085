/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef APAPI_DATABASE_DB_BATCH_H
#define APAPI_DATABASE_DB_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apapi/record.h"
#include "apapi/scan.h"

/**
 * Prepared records (opaque). All data is copied, so that some threads can read records while
 * another one writes. Each batch is used by one thread at a time.
 */
struct db_batch;

/** Free. NULL is allowed. errno is preserved. */
void db_batch_destroy(struct db_batch *batch);

/** Add a record, decoded from `line`. 0; -1 with ENOMEM: the batch cannot be written any more. */
int db_batch_add(struct db_batch *batch, const struct apapi_record *record, const char *line,
                 size_t size);

/** Note how far a file of a folder was read. It is written together with the batch. */
void db_batch_note(struct db_batch *batch, const char *folder, const struct apapi_scan_file *file,
                   uint64_t offset);

/** @return whether it should be written before more is added. */
bool db_batch_full(const struct db_batch *batch);

/** @return whether there is nothing to write. */
bool db_batch_is_empty(const struct db_batch *batch);

#endif
