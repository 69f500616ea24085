/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "database/db_batch_rows.h"
#include "database/db_load_jobs.h"
#include "database/db_row.h"
#include "database/db_tables.h"
#include "record/hour.h"

#define TRANSACTION 50000 /* records per transaction */
#define MARKED 4096

enum load_statement {
    FIND,
    IS_THERE,
    DELETE_EVENTS,
    DELETE_COMPONENTS,
    DELETE_DOMAINS,
    DELETE_TIMELINE,
    DELETE_REGIONS,
    DELETE_SHARE,
    DELETE_RECORD,
    FIND_FILE,
    NOTE_FILE,
    LAST_ID,
    STATEMENTS
};

static const char find_by_key[] =
    "SELECT id, elapsed_s FROM records WHERE cluster = ? AND job = ? AND step = ? AND node = ? AND "
    "start_ns = ?";

static const char *const queries[] = {
    [FIND] = find_by_key,
    [IS_THERE] = "SELECT 1 FROM records WHERE id = ?",
    [DELETE_EVENTS] = "DELETE FROM events WHERE record = ?",
    [DELETE_COMPONENTS] = "DELETE FROM components WHERE record = ?",
    [DELETE_DOMAINS] = "DELETE FROM domains WHERE record = ?",
    [DELETE_TIMELINE] = "DELETE FROM timelines WHERE record = ?",
    [DELETE_REGIONS] = "DELETE FROM regions WHERE record = ?",
    [DELETE_SHARE] = "DELETE FROM shares WHERE record = ?",
    [DELETE_RECORD] = "DELETE FROM records WHERE id = ?",
    [FIND_FILE] = "SELECT bytes FROM files WHERE folder = ? AND day = ? AND file = ?",
    [NOTE_FILE] = "REPLACE INTO files (folder, day, file, bytes) VALUES (?, ?, ?, ?)",
    [LAST_ID] = "SELECT COALESCE(MAX(id), 0) FROM records"};

/* The columns that identify a record, in the order of FIND, and those to choose between two. */
enum key { CLUSTER, JOB, STEP, NODE, START, KEYS, ELAPSED = KEYS, COLUMNS };

static const char *const columns[] = {
    [CLUSTER] = "cluster", [JOB] = "job",     [STEP] = "step",
    [NODE] = "node",       [START] = "start", [ELAPSED] = "elapsed_s"};

struct marked {
    char cluster[64];
    int64_t job; /* 0: none */
};

struct db_load {
    struct db *db;
    bool with_events, begun;
    struct db_statement *statements[STATEMENTS];
    struct db_insert *inserts[BATCH_TABLES], *stale, *hours;
    size_t columns[COLUMNS]; /* their indexes in a row of `records` */
    struct db_load_counts counts;
    int64_t last_id;
    size_t in_transaction;
    struct marked marked[MARKED]; /* in this transaction, hashed by the job's number */
};

static int prepare_queries(struct db_load *load, struct apapi_error *err)
{
    for (int i = 0; i < STATEMENTS; i++) {
        load->statements[i] = db_prepare(load->db, queries[i], err);
        if (!load->statements[i]) {
            return -1;
        }
    }
    return 0;
}

static int prepare_inserts(struct db_load *load, struct apapi_error *err)
{
    static const struct db_table *const tables[] = {
        [BATCH_RECORDS] = &db_records, [BATCH_TIMELINES] = &db_timelines,
        [BATCH_SHARES] = &db_shares,   [BATCH_REGIONS] = &db_regions,
        [BATCH_DOMAINS] = &db_domains, [BATCH_COMPONENTS] = &db_components,
        [BATCH_EVENTS] = &db_events};

    for (int i = 0; i < BATCH_TABLES; i++) {
        load->inserts[i] =
            db_insert_create(load->db, tables[i], i == BATCH_RECORDS ? DB_SKIP : DB_REFUSE, err);
        if (!load->inserts[i]) {
            return -1;
        }
    }
    for (int i = 0; i < COLUMNS; i++) {
        load->columns[i] = db_insert_column(load->inserts[BATCH_RECORDS], columns[i]);
    }
    load->stale = db_insert_create(load->db, &db_stale, DB_SKIP, err);
    load->hours = db_insert_create(load->db, &db_hours, DB_REPLACE, err);
    return load->stale && load->hours ? 0 : -1;
}

struct db_load *db_load_create(struct db *db, bool with_events, struct apapi_error *err)
{
    struct db_load *load = calloc(1, sizeof *load);

    if (!load) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    load->db = db;
    load->with_events = with_events;
    if (db_lock(db, err) || db_tables_create(db, err) || prepare_queries(load, err) ||
        prepare_inserts(load, err)) {
        db_load_destroy(load);
        return NULL;
    }
    return load;
}

void db_load_destroy(struct db_load *load)
{
    int saved = errno;

    if (load) {
        for (int i = 0; i < STATEMENTS; i++) {
            db_finalize(load->statements[i]);
        }
        for (int i = 0; i < BATCH_TABLES; i++) {
            db_insert_destroy(load->inserts[i]);
        }
        db_insert_destroy(load->stale);
        db_insert_destroy(load->hours);
        free(load);
    }
    errno = saved;
}

const struct db_load_counts *db_load_counts(const struct db_load *load)
{
    return &load->counts;
}

/* --- transactions --------------------------------------------------------------------------- */

/* IDs are counted up from the greatest one: no other import is in a transaction. */
static int db_load_begin(struct db_load *load, struct apapi_error *err)
{
    struct db_statement *last = load->statements[LAST_ID];

    if (load->begun) {
        return 0;
    }
    if (db_begin(load->db, err)) {
        return -1;
    }
    load->begun = true;
    if (db_step(last, err) < 0) {
        return -1;
    }
    load->last_id = db_column(last, 0).integer;
    db_end(last);
    return 0;
}

int db_load_commit(struct db_load *load, struct apapi_error *err)
{
    if (!load->begun) {
        return 0;
    }
    load->begun = false;
    load->in_transaction = 0;
    memset(load->marked, 0, sizeof load->marked);
    return db_commit(load->db, err);
}

/* --- records -------------------------------------------------------------------------------- */

/* @return 1: a record with the same key exists; 0; -1 */
static int db_load_find(struct db_load *load, const struct db_value *row, int64_t *id,
                        double *elapsed_s, struct apapi_error *err)
{
    struct db_statement *statement = load->statements[FIND];
    struct db_value key[KEYS];
    int found;

    for (int i = 0; i < KEYS; i++) {
        key[i] = row[load->columns[i]];
    }
    found = db_first(statement, key, KEYS, err);
    if (found > 0) {
        *id = db_column(statement, 0).integer;
        *elapsed_s = db_column(statement, 1).real;
    }
    db_end(statement);
    return found;
}

static int db_load_flush(struct db_load *load, struct apapi_error *err)
{
    for (int i = 0; i < BATCH_TABLES; i++) {
        if (db_insert_flush(load->inserts[i], err)) {
            return -1;
        }
    }
    return 0;
}

/* Delete a record. Its rows may still wait to be added. */
static int db_load_forget(struct db_load *load, int64_t id, struct apapi_error *err)
{
    const struct db_value value = db_integer(id);

    if (db_load_flush(load, err)) {
        return -1;
    }
    for (int i = DELETE_EVENTS; i <= DELETE_RECORD; i++) {
        if (db_run(load->statements[i], &value, 1, err)) {
            return -1;
        }
    }
    return 0;
}

/* Note that the totals of the record's job must be calculated. */
static int mark_job(struct db_load *load, const struct db_value *row, struct apapi_error *err)
{
    const struct db_value *cluster = &row[load->columns[CLUSTER]], *job = &row[load->columns[JOB]];
    struct marked *marked = &load->marked[job->integer % MARKED];
    struct db_job stale = {.job = (uint32_t)job->integer};
    const void *const bases[] = {&stale};

    memcpy(stale.cluster, cluster->text, cluster->size);
    if (job->integer == 0 ||
        (job->integer == marked->job && strcmp(stale.cluster, marked->cluster) == 0)) {
        return 0;
    }
    memcpy(marked->cluster, stale.cluster, sizeof marked->cluster);
    marked->job = job->integer;
    return db_insert_run(load->stale, &(struct db_row){.bases = bases}, err);
}

/* A record with the same key exists: keep the longer one. @return whether that is the new; -1 */
static int replace(struct db_load *load, struct db_value *row, struct apapi_error *err)
{
    double known_s = 0;
    int64_t id;
    int found = db_load_find(load, row, &id, &known_s, err);

    if (found <= 0) {
        return found < 0 ? -1 : apapi_fail(err, EIO, "the database refuses a record");
    }
    if (known_s >= row[load->columns[ELAPSED]].real) {
        load->counts.known++;
        return 0;
    }
    load->counts.replaced++;
    return db_load_forget(load, id, err) || db_insert_put(load->inserts[BATCH_RECORDS], row, err) ||
                   db_insert_flush(load->inserts[BATCH_RECORDS], err)
               ? -1
               : 1;
}

/* Add the rows that belong to the record of the first row. */
static int add_rest(struct db_load *load, const struct db_batch *batch,
                    const struct batch_row *first, struct apapi_error *err)
{
    const struct batch_row *end = batch->rows + batch->row_count;
    const struct db_value *id = &batch->values[first->first];

    for (const struct batch_row *row = first + 1; row < end && row->table != BATCH_RECORDS; row++) {
        batch->values[row->first] = *id;
        if (db_insert_put(load->inserts[row->table], &batch->values[row->first], err)) {
            return -1;
        }
    }
    load->in_transaction++;
    return mark_job(load, id, err);
}

/* @return 1: the row was added; 0: a record with its key existed; -1 */
static int db_load_is_there(struct db_load *load, const struct db_value *id,
                            struct apapi_error *err)
{
    int found = db_first(load->statements[IS_THERE], id, 1, err);

    db_end(load->statements[IS_THERE]);
    return found;
}

/* Records that one statement adds. */
struct group {
    const struct batch_row *rows[DB_ROWS_MAX];
    size_t count;
};

static int finish_group(struct db_load *load, const struct db_batch *batch, struct group *group,
                        struct apapi_error *err)
{
    struct db_insert *insert = load->inserts[BATCH_RECORDS];
    size_t added, count = group->count;

    group->count = 0;
    if (db_insert_flush(insert, err)) {
        return -1;
    }
    added = db_insert_added(insert);
    for (size_t i = 0; i < count; i++) {
        struct db_value *row = &batch->values[group->rows[i]->first];
        int is_new = added == count ? 1 : added == 0 ? 0 : db_load_is_there(load, row, err);

        load->counts.added += is_new > 0;
        if (is_new == 0) {
            is_new = replace(load, row, err);
        }
        if (is_new < 0 || (is_new && add_rest(load, batch, group->rows[i], err))) {
            return -1;
        }
    }
    db_insert_added(insert);
    return 0;
}

static int add_records(struct db_load *load, const struct db_batch *batch, struct apapi_error *err)
{
    const size_t room = db_dialect(load->db)->rows;
    struct group group = {.count = 0};

    for (size_t i = 0; i < batch->row_count; i++) {
        struct db_value *row = &batch->values[batch->rows[i].first];

        if (batch->rows[i].table != BATCH_RECORDS) {
            continue;
        }
        *row = db_integer(++load->last_id);
        group.rows[group.count++] = &batch->rows[i];
        if (db_insert_put(load->inserts[BATCH_RECORDS], row, err) ||
            (group.count == room && finish_group(load, batch, &group, err))) {
            return -1;
        }
    }
    return finish_group(load, batch, &group, err) || db_load_flush(load, err) ? -1 : 0;
}

static int db_load_note(struct db_load *load, const struct batch_file *file,
                        struct apapi_error *err)
{
    const struct db_value values[] = {db_text(file->folder), db_text(file->day),
                                      db_text(file->name), db_integer((int64_t)file->offset)};

    return db_run(load->statements[NOTE_FILE], values, COUNT_OF(values), err);
}

static int note_files(struct db_load *load, const struct db_batch *batch, struct apapi_error *err)
{
    for (size_t i = 0; i < batch->file_count; i++) {
        if (db_load_note(load, &batch->files[i], err)) {
            return -1;
        }
    }
    return 0;
}

struct db_batch *db_batch_create(const struct db_load *load, struct apapi_error *err)
{
    struct db_batch *batch = batch_create(load->inserts, load->with_events);

    if (!batch) {
        apapi_fail(err, ENOMEM, "no memory");
    }
    return batch;
}

int db_load_batch(struct db_load *load, struct db_batch *batch, struct apapi_error *err)
{
    batch_settle(batch);
    if (db_load_begin(load, err) || add_records(load, batch, err) || note_files(load, batch, err)) {
        return -1;
    }
    batch_empty(batch);
    return load->in_transaction < TRANSACTION ? 0 : db_load_commit(load, err);
}

/* --- hours ---------------------------------------------------------------------------------- */

int db_load_hour(struct db_load *load, const struct hour *hour, struct apapi_error *err)
{
    const void *const bases[] = {hour};
    char *line = hour_encode(hour, "hour");
    int result = line ? db_load_begin(load, err) : apapi_fail(err, ENOMEM, "no memory");

    if (result == 0) {
        result = db_insert_run(load->hours, &(struct db_row){.bases = bases, .text = db_text(line)},
                               err);
    }
    free(line);
    load->counts.hours += result == 0;
    load->in_transaction++;
    return result;
}

int db_load_hours_end(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                      struct apapi_error *err)
{
    struct batch_file note = {.offset = file->size};

    snprintf(note.folder, sizeof note.folder, "%s", folder);
    snprintf(note.day, sizeof note.day, "%s", file->day);
    snprintf(note.name, sizeof note.name, "%s", file->name);
    if (db_load_begin(load, err) || db_load_note(load, &note, err)) {
        return -1;
    }
    return load->in_transaction < TRANSACTION ? 0 : db_load_commit(load, err);
}

/* --- files and jobs ------------------------------------------------------------------------- */

int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err)
{
    const struct db_value key[] = {db_text(folder), db_text(file->day), db_text(file->name)};
    struct db_statement *statement = load->statements[FIND_FILE];
    int found = db_first(statement, key, COUNT_OF(key), err);
    int64_t offset = found > 0 ? db_column(statement, 0).integer : found;

    db_end(statement);
    return offset;
}

int64_t db_load_jobs(struct db_load *load, struct apapi_error *err)
{
    int64_t count = load_jobs(load->db, err);

    return count < 0 || db_tables_finish(load->db, err) ? -1 : count;
}
