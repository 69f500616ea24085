/* SPDX-License-Identifier: BSD-3-Clause */
#include "index/batch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/record.h"

#define BATCH_TEXT 0x40000 /* a batch is full from here on [bytes] */

struct db_batch *db_batch_create(struct apapi_error *err)
{
    struct db_batch *batch = calloc(1, sizeof *batch);

    if (!batch) {
        apapi_fail(err, ENOMEM, "no memory");
    }
    return batch;
}

void db_batch_destroy(struct db_batch *batch)
{
    int saved = errno;

    if (batch) {
        free(batch->text);
        sum_free(&batch->sums);
        free(batch);
    }
    errno = saved;
}

bool db_batch_full(const struct db_batch *batch)
{
    return batch->count == DB_ROWS_MAX || batch->file_count == BATCH_FILES ||
           batch->text_size >= BATCH_TEXT;
}

int db_batch_add(struct db_batch *batch, const struct apapi_record *record, const char *line,
                 size_t size)
{
    const struct apapi_measurement *m = &record->measurement;
    struct db_record *row = &batch->records[batch->count];

    if (array_extend(&batch->text, batch->text_size, size, &batch->text_room, 1) ||
        sum_add(&batch->sums, record, NULL)) {
        return -1;
    }
    memcpy(batch->text + batch->text_size, line, size);
    *row = (struct db_record){.who = record->id,
                              .complete = record->complete,
                              .start_ns = m->start_unix_ns,
                              .end_ns = record_end_ns(m),
                              .elapsed_s = (double)m->elapsed_ns / 1e9,
                              .energy_j = apapi_measurement_total_j(m),
                              .uncertainty_j = apapi_record_uncertainty_j(m),
                              .mean_w = apapi_measurement_total_w(m),
                              .line.size = size};
    timestamp_day(row->day, sizeof row->day, row->end_ns);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domains_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
    }
    batch->line_at[batch->count++] = batch->text_size;
    batch->curves_at[batch->count] = (uint32_t)batch->sums.curve_count;
    batch->text_size += size;
    return 0;
}

struct batch_file batch_file(const char *folder, const struct apapi_scan_file *file,
                             uint64_t offset)
{
    struct batch_file note = {.offset = offset};

    snprintf(note.folder, sizeof note.folder, "%s", folder);
    snprintf(note.day, sizeof note.day, "%s", file->day);
    snprintf(note.name, sizeof note.name, "%s", file->name);
    return note;
}

void db_batch_note(struct db_batch *batch, const char *folder, const struct apapi_scan_file *file,
                   uint64_t offset)
{
    batch->files[batch->file_count++] = batch_file(folder, file, offset);
}
