/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_batch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "database/db_batch_rows.h"
#include "database/db_member.h"
#include "record/members.h"
#include "record/record.h"

/* The batch is full from here on: it fits into a processor's cache, with a few records more. */
#define RECORDS 64
#define VALUES 0x8000
#define TEXT_BYTES 0x40000

struct db_batch *batch_create(struct db_insert *const *inserts, bool with_events)
{
    struct db_batch *batch = calloc(1, sizeof *batch);

    if (batch) {
        batch->inserts = inserts;
        batch->with_events = with_events;
    }
    return batch;
}

void db_batch_destroy(struct db_batch *batch)
{
    int saved = errno;

    if (batch) {
        free(batch->rows);
        free(batch->values);
        free(batch->texts);
        free(batch);
    }
    errno = saved;
}

bool db_batch_full(const struct db_batch *batch)
{
    return batch->record_count >= RECORDS || batch->file_count >= BATCH_FILES ||
           batch->value_count >= VALUES || batch->text_size >= TEXT_BYTES;
}

bool db_batch_is_empty(const struct db_batch *batch)
{
    return batch->record_count == 0 && batch->file_count == 0;
}

void batch_empty(struct db_batch *batch)
{
    batch->record_count = batch->row_count = batch->value_count = 0;
    batch->text_size = batch->file_count = 0;
}

void batch_settle(struct db_batch *batch)
{
    for (size_t i = 0; i < batch->value_count; i++) {
        if (batch->values[i].type == DB_TEXT) {
            batch->values[i].text = batch->texts + batch->values[i].integer;
        }
    }
}

/* --- rows ----------------------------------------------------------------------------------- */

static int keep_text(struct db_batch *batch, struct db_value *value)
{
    if (array_extend(&batch->texts, batch->text_size, value->size + 1, &batch->text_room, 1)) {
        return -1;
    }
    if (value->size > 0) {
        memcpy(batch->texts + batch->text_size, value->text, value->size);
    }
    value->integer = (int64_t)batch->text_size;
    batch->text_size += value->size;
    return 0;
}

static int db_batch_add_row(struct db_batch *batch, enum db_batch_table table,
                            const struct db_row *row)
{
    const size_t width = db_insert_width(batch->inserts[table]), first = batch->value_count;

    if (array_add(&batch->rows, batch->row_count, &batch->row_room, sizeof *batch->rows) ||
        array_extend(&batch->values, first, width, &batch->value_room, sizeof *batch->values)) {
        return -1;
    }
    db_insert_values(batch->inserts[table], row, batch->values + first);
    for (size_t i = first; i < first + width; i++) {
        if (batch->values[i].type == DB_TEXT && keep_text(batch, &batch->values[i])) {
            return -1;
        }
    }
    batch->value_count += width;
    batch->rows[batch->row_count++] = (struct batch_row){table, first};
    return 0;
}

/* --- a record ------------------------------------------------------------------------------- */

static int db_batch_add_timeline(struct db_batch *batch, const char *line, size_t size)
{
    const int64_t no_id = 0;
    struct db_row row = {.keys = &no_id, .text = {.type = DB_TEXT}};

    row.text.text = json_member(line, size, "timeline", &row.text.size);
    return row.text.text ? db_batch_add_row(batch, BATCH_TIMELINES, &row) : 0;
}

static int db_batch_add_regions(struct db_batch *batch, const struct apapi_regions *regions)
{
    const int64_t no_id = 0;
    struct db_row row = {.keys = &no_id, .text = {.type = DB_TEXT}};
    char *text;
    int result = -1;

    if (!regions_exist(regions)) {
        return 0;
    }
    text = regions_text(regions);
    if (text) {
        row.text.text = text;
        row.text.size = strlen(text);
        result = db_batch_add_row(batch, BATCH_REGIONS, &row);
    }
    free(text);
    return result;
}

static int db_batch_add_share(struct db_batch *batch, const struct apapi_share *share,
                              const char *line, size_t size)
{
    const int64_t no_id = 0;
    struct db_share columns = {.energy_j = apapi_share_energy_j(share),
                               .uncertainty_j = apapi_share_uncertainty_j(share)};
    const void *const bases[] = {&columns};
    struct db_row row = {.keys = &no_id, .bases = bases, .text = {.type = DB_TEXT}};

    snprintf(columns.method, sizeof columns.method, "%s", share->method);
    row.text.text = json_member(line, size, "share", &row.text.size);
    return row.text.text ? db_batch_add_row(batch, BATCH_SHARES, &row) : 0;
}

static int db_batch_add_domains(struct db_batch *batch, const struct apapi_measurement *m)
{
    const int64_t no_id = 0;

    for (enum apapi_domain d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const void *const bases[] = {&d, &m->domains[d]};

        if (m->domains[d].measured &&
            db_batch_add_row(batch, BATCH_DOMAINS,
                             &(struct db_row){.keys = &no_id, .bases = bases})) {
            return -1;
        }
    }
    return 0;
}

static int db_batch_add_events(struct db_batch *batch, size_t number,
                               const struct apapi_component_result *component)
{
    for (size_t i = 0; i < component->event_count; i++) {
        const int64_t keys[] = {0, (int64_t)number, (int64_t)i};
        const void *const bases[] = {&component->events[i]};

        if (db_batch_add_row(batch, BATCH_EVENTS, &(struct db_row){.keys = keys, .bases = bases})) {
            return -1;
        }
    }
    return 0;
}

static int db_batch_add_components(struct db_batch *batch, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        const int64_t keys[] = {0, (int64_t)i};
        const void *const bases[] = {&m->components[i]};

        if (db_batch_add_row(batch, BATCH_COMPONENTS,
                             &(struct db_row){.keys = keys, .bases = bases}) ||
            db_batch_add_events(batch, i, &m->components[i])) {
            return -1;
        }
    }
    return 0;
}

static bool has_gaps(const struct apapi_timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++) {
        if (timeline->covered_pct[i] < 100) {
            return true;
        }
    }
    return false;
}

static struct db_derived db_batch_derive(const struct apapi_measurement *m)
{
    struct db_derived derived = {.end_unix_ns = record_end_ns(m),
                                 .energy_j = apapi_measurement_total_j(m),
                                 .uncertainty_j = apapi_record_uncertainty_j(m),
                                 .mean_w = apapi_measurement_total_w(m)};

    timestamp_day(derived.day, sizeof derived.day, derived.end_unix_ns);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        derived.domains_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
        derived.gaps = derived.gaps || has_gaps(&m->domains[d].timeline);
    }
    domain_list_text(m->unknown_domains, ",", derived.unknown_domains);
    return derived;
}

int db_batch_add(struct db_batch *batch, const struct apapi_record *record, const char *line,
                 size_t size)
{
    const struct apapi_measurement *m = &record->measurement;
    const struct db_derived derived = db_batch_derive(m);
    const void *const bases[] = {record, m, &derived};
    const int64_t no_id = 0;

    if (db_batch_add_row(batch, BATCH_RECORDS, &(struct db_row){.keys = &no_id, .bases = bases}) ||
        db_batch_add_timeline(batch, line, size) || db_batch_add_regions(batch, &record->regions) ||
        db_batch_add_share(batch, &record->share, line, size) || db_batch_add_domains(batch, m) ||
        (batch->with_events && db_batch_add_components(batch, m))) {
        errno = ENOMEM;
        return -1;
    }
    batch->record_count++;
    return 0;
}

void db_batch_note(struct db_batch *batch, const char *folder, const struct apapi_scan_file *file,
                   uint64_t offset)
{
    struct batch_file *note = &batch->files[batch->file_count++];

    snprintf(note->folder, sizeof note->folder, "%s", folder);
    snprintf(note->day, sizeof note->day, "%s", file->day);
    snprintf(note->name, sizeof note->name, "%s", file->name);
    note->offset = offset;
}
