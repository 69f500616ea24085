/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads lines into a database, and adds up the jobs whose records came. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/job.h"
#include "base/array.h"
#include "base/clock.h"
#include "index/tables.h"
#include "record/hour.h"
#include "record/record.h"

#define TRANSACTION 50000  /* records per transaction */
#define JOBS_AT_ONCE 10000 /* in a transaction */
#define BATCH_TEXT 0x40000 /* a batch is full from here on [bytes] */
#define BATCH_FILES 64

/* --- batches -------------------------------------------------------------------------------- */

struct batch_file {
    char folder[DB_FOLDER_SIZE + 1], day[12], name[256];
    uint64_t offset;
};

struct db_batch {
    struct db_record records[DB_ROWS_MAX];
    size_t line_at[DB_ROWS_MAX]; /* in `text` */
    size_t count;
    char *text;
    size_t text_size, text_room;
    struct batch_file files[BATCH_FILES];
    size_t file_count;
};

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

    if (array_extend(&batch->text, batch->text_size, size, &batch->text_room, 1)) {
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
    batch->text_size += size;
    return 0;
}

static struct batch_file make_note(const char *folder, const struct apapi_scan_file *file,
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
    batch->files[batch->file_count++] = make_note(folder, file, offset);
}

/* --- statements ----------------------------------------------------------------------------- */

enum load_statement {
    FIND_TWIN,
    FIND_TWINS,
    IS_THERE,
    KEEP_TWIN,
    DELETE_RECORD,
    LAST_ID,
    FIND_FILE,
    FORGET_FILE,
    NOTE_FILE,
    FORGET_HOUR,
    STALE_JOBS,
    JOB_RECORDS,
    FORGET_JOB,
    RENEWED,
    LOAD_STATEMENTS
};

#define OF_IDENTITY " WHERE job = ? AND cluster = ? AND node = ? AND start_ns = ? AND step = ?"

static const char *const load_queries[] = {
    [FIND_TWIN] = ("SELECT id, end_ns, complete, line FROM records" OF_IDENTITY),
    [FIND_TWINS] = ("SELECT line FROM twins" OF_IDENTITY),
    [IS_THERE] = "SELECT 1 FROM records WHERE id = ?",
    [KEEP_TWIN] = "INSERT INTO twins SELECT * FROM records WHERE id = ?",
    [DELETE_RECORD] = "DELETE FROM records WHERE id = ?",
    [LAST_ID] = ("SELECT COALESCE(MAX(id), 0) FROM (SELECT MAX(id) AS id FROM records"
                 " UNION ALL SELECT MAX(id) FROM twins) AS ids"),
    [FIND_FILE] = "SELECT bytes FROM files WHERE folder = ? AND \"day\" = ? AND file = ?",
    [FORGET_FILE] = "DELETE FROM files WHERE folder = ? AND \"day\" = ? AND file = ?",
    [NOTE_FILE] = "INSERT INTO files (folder, \"day\", file, bytes) VALUES (?, ?, ?, ?)",
    [FORGET_HOUR] =
        "DELETE FROM hours WHERE start_ns = ? AND node = ? AND cluster = ? AND end_ns = ?",
    [STALE_JOBS] = "SELECT cluster, job FROM stale_jobs ORDER BY cluster, job LIMIT ?",
    [JOB_RECORDS] = ("SELECT line FROM records WHERE job = ? AND cluster = ?"
                     " ORDER BY COALESCE(uid, 0), node, start_ns, step"),
    [FORGET_JOB] = "DELETE FROM jobs WHERE job = ? AND cluster = ?",
    [RENEWED] = "DELETE FROM stale_jobs WHERE cluster < ? OR (cluster = ? AND job <= ?)"};

struct stale_job {
    char cluster[64];
    uint32_t job;
};

struct db_load {
    struct db *db;
    bool begun;
    struct db_statement *statements[LOAD_STATEMENTS], *mark;
    struct db_statement *records[DB_ROWS_MAX + 1]; /* that add so many, prepared when needed */
    struct db_statement *twins, *jobs, *hours;
    struct db_value values[DB_ROWS_MAX * DB_FIELDS_MAX];
    struct db_load_counts counts;
    int64_t last_id, first_id; /* first_id: the last one before this transaction */
    size_t in_transaction;
    struct stale_job stale[JOBS_AT_ONCE];
};

/* @return a statement that adds so many rows; NULL on error. */
static struct db_statement *prepare_insert(struct db *db, const struct db_table *table, size_t rows,
                                           struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        db_insert_write(sql, table, rows);
        fputs(table == &db_records ? db_dialect(db)->skip : "", sql);
    }
    return db_prepare_stream(db, sql, &text, err);
}

static int prepare_all(struct db_load *load, struct apapi_error *err)
{
    char mark[256];

    for (int i = 0; i < LOAD_STATEMENTS; i++) {
        load->statements[i] = db_prepare(load->db, load_queries[i], err);
        if (!load->statements[i]) {
            return -1;
        }
    }
    snprintf(
        mark, sizeof mark,
        "INSERT INTO stale_jobs (cluster, job) SELECT DISTINCT cluster, job FROM records WHERE "
        "id > ? AND job >= 0%s",
        db_dialect(load->db)->skip);
    load->mark = db_prepare(load->db, mark, err);
    load->twins = load->mark ? prepare_insert(load->db, &db_twins, 1, err) : NULL;
    load->jobs = load->twins ? prepare_insert(load->db, &db_jobs, 1, err) : NULL;
    load->hours = load->jobs ? prepare_insert(load->db, &db_hours, 1, err) : NULL;
    return load->hours ? 0 : -1;
}

struct db_load *db_load_create(struct db *db, bool anew, struct apapi_error *err)
{
    struct db_load *load = calloc(1, sizeof *load);

    if (!load) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    load->db = db;
    if (db_lock(db, err) || db_tables_create(db, anew, err) || prepare_all(load, err)) {
        db_load_destroy(load);
        return NULL;
    }
    return load;
}

void db_load_destroy(struct db_load *load)
{
    int saved = errno;

    if (load) {
        for (int i = 0; i < LOAD_STATEMENTS; i++) {
            db_finalize(load->statements[i]);
        }
        for (size_t i = 0; i < COUNT_OF(load->records); i++) {
            db_finalize(load->records[i]);
        }
        db_finalize(load->mark);
        db_finalize(load->twins);
        db_finalize(load->jobs);
        db_finalize(load->hours);
        free(load);
    }
    errno = saved;
}

const struct db_load_counts *db_load_counts(const struct db_load *load)
{
    return &load->counts;
}

/* Run a statement that has at most one row. @return 1: it has, call db_end(); 0: done; -1 */
static int load_find(struct db_load *load, enum load_statement number,
                     const struct db_value *values, size_t count, struct apapi_error *err)
{
    int got = db_first(load->statements[number], values, count, err);

    if (got <= 0) {
        db_end(load->statements[number]);
    }
    return got;
}

static int load_run(struct db_load *load, enum load_statement number, const struct db_value *values,
                    size_t count, struct apapi_error *err)
{
    return db_run(load->statements[number], values, count, err) < 0 ? -1 : 0;
}

/* --- transactions --------------------------------------------------------------------------- */

/* IDs are counted up from the greatest one: no other import is in a transaction. */
static int load_begin(struct db_load *load, struct apapi_error *err)
{
    if (load->begun) {
        return 0;
    }
    if (db_begin(load->db, err)) {
        return -1;
    }
    load->begun = true;
    if (load_find(load, LAST_ID, NULL, 0, err) <= 0) {
        return -1;
    }
    load->first_id = load->last_id = db_column(load->statements[LAST_ID], 0).integer;
    db_end(load->statements[LAST_ID]);
    return 0;
}

/* The jobs of the new records are noted in the same transaction. */
static int load_commit(struct db_load *load, struct apapi_error *err)
{
    const struct db_value first = db_integer(load->first_id);

    if (!load->begun) {
        return 0;
    }
    if (load->last_id > load->first_id && db_run(load->mark, &first, 1, err) < 0) {
        return -1;
    }
    load->begun = false;
    load->in_transaction = 0;
    return db_exec(load->db, "COMMIT", err);
}

static int commit_if_due(struct db_load *load, struct apapi_error *err)
{
    return load->in_transaction < TRANSACTION ? 0 : load_commit(load, err);
}

/* --- records -------------------------------------------------------------------------------- */

/* @return how many of the rows are new; those that exist are skipped; -1 */
static int64_t insert_records(struct db_load *load, struct db_record *records, size_t count,
                              struct apapi_error *err)
{
    size_t width = 0;

    if (!load->records[count]) {
        load->records[count] = prepare_insert(load->db, &db_records, count, err);
    }
    for (size_t i = 0; i < count; i++) {
        records[i].id = ++load->last_id;
        width += db_row(&db_records, &records[i], load->values + width);
    }
    return load->records[count] ? db_run(load->records[count], load->values, width, err) : -1;
}

/* @return 1: the record's row was added; 0: a twin was there; -1 */
static int is_there(struct db_load *load, const struct db_record *record, struct apapi_error *err)
{
    const struct db_value id = db_integer(record->id);
    int found = load_find(load, IS_THERE, &id, 1, err);

    if (found > 0) {
        db_end(load->statements[IS_THERE]);
    }
    return found;
}

/* @return 1: it is among those that do not count; 0; -1 */
static int is_twin(struct db_load *load, const struct db_line *line, const struct db_value *key,
                   size_t count, struct apapi_error *err)
{
    struct db_statement *twins = load->statements[FIND_TWINS];
    int got = db_first(twins, key, count, err);

    for (; got > 0; got = db_step(twins, err)) {
        struct db_value known = db_column(twins, 0);

        if (known.size == line->size && memcmp(known.text, line->text, line->size) == 0) {
            break;
        }
    }
    db_end(twins);
    return got;
}

/* A record with the same identity exists. The one that does not count is kept as well: it may be
 * selected where the other one is not. */
static int load_replace(struct db_load *load, struct db_record *record, struct apapi_error *err)
{
    const struct db_value key[] = {
        db_integer(record->who.job == APAPI_UNKNOWN ? -1 : (int64_t)record->who.job),
        db_text(record->who.cluster), db_text(record->who.node), db_integer(record->start_ns),
        db_text(record->who.step)};
    const struct record_twin twin = {(uint64_t)(record->end_ns - record->start_ns),
                                     record->complete,
                                     record_digest(record->line.text, record->line.size)};
    struct db_statement *find = load->statements[FIND_TWIN];
    struct record_twin known;
    struct db_value id, line;
    int found = load_find(load, FIND_TWIN, key, COUNT_OF(key), err), order;

    if (found <= 0) {
        return found < 0 ? -1 : apapi_fail(err, EIO, "the database refuses a record");
    }
    id = db_column(find, 0);
    line = db_column(find, 3);
    known =
        (struct record_twin){(uint64_t)(db_column(find, 1).integer - record->start_ns),
                             db_column(find, 2).integer != 0, record_digest(line.text, line.size)};
    order = record_twin_compare(&twin, &known);
    db_end(find);
    if (order > 0) {
        load->counts.replaced++;
        return load_run(load, KEEP_TWIN, &id, 1, err) ||
                       load_run(load, DELETE_RECORD, &id, 1, err) ||
                       insert_records(load, record, 1, err) < 0
                   ? -1
                   : 0;
    }
    load->counts.known++;
    found = order == 0 ? 1 : is_twin(load, &record->line, key, COUNT_OF(key), err);
    if (found == 0) {
        found = db_run(load->twins, load->values, db_row(&db_twins, record, load->values), err) < 0
                    ? -1
                    : 0;
    }
    return found < 0 ? -1 : 0;
}

static int load_records(struct db_load *load, struct db_record *records, size_t count,
                        struct apapi_error *err)
{
    int64_t added = count ? insert_records(load, records, count, err) : 0;

    for (size_t i = 0; i < count && added >= 0; i++) {
        int is_new = added == (int64_t)count ? 1
                     : added == 0            ? 0
                                             : is_there(load, &records[i], err);

        load->counts.added += is_new > 0;
        if (is_new < 0 || (is_new == 0 && load_replace(load, &records[i], err))) {
            return -1;
        }
    }
    load->in_transaction += count;
    return added < 0 ? -1 : 0;
}

static int note_file(struct db_load *load, const struct batch_file *file, struct apapi_error *err)
{
    const struct db_value values[] = {db_text(file->folder), db_text(file->day),
                                      db_text(file->name), db_integer((int64_t)file->offset)};

    return load_run(load, FORGET_FILE, values, 3, err) || load_run(load, NOTE_FILE, values, 4, err)
               ? -1
               : 0;
}

int db_load_batch(struct db_load *load, struct db_batch *batch, struct apapi_error *err)
{
    const size_t rows = db_dialect(load->db)->rows;

    for (size_t i = 0; i < batch->count; i++) {
        batch->records[i].line.text = batch->text + batch->line_at[i];
    }
    if (batch->count == 0 && batch->file_count == 0) {
        return 0;
    }
    if (load_begin(load, err)) {
        return -1;
    }
    for (size_t i = 0; i < batch->count; i += rows) {
        size_t count = batch->count - i < rows ? batch->count - i : rows;

        if (load_records(load, batch->records + i, count, err)) {
            return -1;
        }
    }
    for (size_t i = 0; i < batch->file_count; i++) {
        if (note_file(load, &batch->files[i], err)) {
            return -1;
        }
    }
    batch->count = batch->text_size = batch->file_count = 0;
    return commit_if_due(load, err);
}

int db_load_note(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                 uint64_t offset, struct apapi_error *err)
{
    const struct batch_file note = make_note(folder, file, offset);

    return load_begin(load, err) || note_file(load, &note, err) || commit_if_due(load, err) ? -1
                                                                                            : 0;
}

int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err)
{
    const struct db_value key[] = {db_text(folder), db_text(file->day), db_text(file->name)};
    int found = load_find(load, FIND_FILE, key, COUNT_OF(key), err);
    int64_t offset = found;

    if (found > 0) {
        offset = db_column(load->statements[FIND_FILE], 0).integer;
        db_end(load->statements[FIND_FILE]);
    }
    return offset;
}

int db_load_hour(struct db_load *load, const struct hour *hour, struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(hour->start_ns), db_text(hour->node),
                                   db_text(hour->cluster), db_integer(hour->end_ns)};
    struct db_hour row = {.start_ns = hour->start_ns, .end_ns = hour->end_ns};
    char *line = hour_encode(hour);
    int result = line ? load_begin(load, err) : apapi_fail(err, ENOMEM, "no memory");

    if (line && result == 0) {
        memcpy(row.cluster, hour->cluster, sizeof row.cluster);
        memcpy(row.node, hour->node, sizeof row.node);
        row.line = (struct db_line){line, strlen(line)};
        result = load_run(load, FORGET_HOUR, key, COUNT_OF(key), err) ||
                         db_run(load->hours, load->values, db_row(&db_hours, &row, load->values),
                                err) < 0
                     ? -1
                     : 0;
    }
    free(line);
    load->counts.hours += result == 0;
    load->in_transaction++;
    return result || commit_if_due(load, err) ? -1 : 0;
}

/* --- jobs ----------------------------------------------------------------------------------- */

/* Slurm's values have precedence over the step's environment. */
static void know_better(struct db_job *row, const struct apapi_record *record)
{
    if (!*row->who.node || (record->id.verified && !row->who.verified)) {
        row->who = record->id;
    }
}

static int write_job(struct db_load *load, struct db_job *row, struct apapi_job *job,
                     struct apapi_error *err)
{
    struct apapi_job_total total;

    if (apapi_job_total(job, &total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    row->start_ns = total.start_unix_ns;
    row->end_ns = total.end_unix_ns;
    timestamp_day(row->day, sizeof row->day, total.end_unix_ns);
    row->records = (uint32_t)total.records;
    row->incomplete = (uint32_t)total.incomplete;
    row->steps = (uint32_t)total.steps;
    row->nodes = (uint32_t)total.nodes;
    row->runs = (uint32_t)total.runs;
    row->energy_j = total.energy_j;
    row->uncertainty_j = total.uncertainty_j;
    row->mean_w = total.mean_w;
    row->covered_s = (double)total.covered_ns / 1e9;
    row->elapsed_s = (double)total.elapsed_ns / 1e9;
    row->node_s = total.node_s > 0 ? total.node_s : NAN;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domains_j[d] = total.domains[d].energy_j;
    }
    domain_list_text(total.missing_domains, ",", row->missing_domains);
    return db_run(load->jobs, load->values, db_row(&db_jobs, row, load->values), err) < 0 ? -1 : 0;
}

/* A number may have been several users': each has a row. */
struct user_job {
    struct db_job row;
    struct apapi_job *job;
};

struct user_jobs {
    struct user_job *list;
    size_t count, room;
};

/* Records come sorted by user. */
static int add_to_job(struct user_jobs *users, const struct apapi_record *record)
{
    uint32_t uid = record->id.uid == APAPI_UNKNOWN ? 0 : record->id.uid;
    struct user_job *user;

    if (users->count == 0 || users->list[users->count - 1].row.uid != uid) {
        struct user_job fresh = {.row.uid = uid, .row.who = APAPI_IDENTITY_UNKNOWN};

        fresh.job = apapi_job_create();
        if (!fresh.job ||
            array_add(&users->list, users->count, &users->room, sizeof *users->list)) {
            apapi_job_destroy(fresh.job);
            return -1;
        }
        users->list[users->count++] = fresh;
    }
    user = &users->list[users->count - 1];
    know_better(&user->row, record);
    return apapi_job_add(user->job, record);
}

/* A line that no import has written is left out. */
static int read_job(struct db_load *load, const struct stale_job *stale, struct user_jobs *users,
                    struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(stale->job), db_text(stale->cluster)};
    struct db_statement *lines = load->statements[JOB_RECORDS];
    int got = db_first(lines, key, COUNT_OF(key), err);

    for (; got > 0; got = got < 0 ? -1 : db_step(lines, err)) {
        struct db_value line = db_column(lines, 0);
        struct apapi_record record;
        bool decoded = line.text && apapi_record_decode(line.text, line.size, &record, NULL) == 0;

        if (decoded ? add_to_job(users, &record) : errno == ENOMEM) {
            got = apapi_fail(err, ENOMEM, "no memory");
        }
        if (decoded) {
            apapi_record_clear(&record);
        }
    }
    db_end(lines);
    return got;
}

static int renew_job(struct db_load *load, const struct stale_job *stale, struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(stale->job), db_text(stale->cluster)};
    struct user_jobs users = {NULL, 0, 0};
    int result =
        read_job(load, stale, &users, err) || load_run(load, FORGET_JOB, key, COUNT_OF(key), err)
            ? -1
            : 0;

    for (size_t i = 0; i < users.count; i++) {
        if (result == 0) {
            result = write_job(load, &users.list[i].row, users.list[i].job, err);
        }
        apapi_job_destroy(users.list[i].job);
    }
    free(users.list);
    return result;
}

static int read_stale(struct db_load *load, size_t *count, struct apapi_error *err)
{
    const struct db_value most = db_integer(JOBS_AT_ONCE);
    struct db_statement *list = load->statements[STALE_JOBS];
    int got = db_first(list, &most, 1, err);

    for (*count = 0; got > 0; got = db_step(list, err), ++*count) {
        struct db_value cluster = db_column(list, 0);

        snprintf(load->stale[*count].cluster, sizeof load->stale->cluster, "%.*s",
                 (int)cluster.size, cluster.text);
        load->stale[*count].job = (uint32_t)db_column(list, 1).integer;
    }
    db_end(list);
    return got;
}

static int renew_some(struct db_load *load, size_t *count, struct apapi_error *err)
{
    if (db_begin(load->db, err) || read_stale(load, count, err)) {
        return -1;
    }
    for (size_t i = 0; i < *count; i++) {
        if (renew_job(load, &load->stale[i], err)) {
            return -1;
        }
    }
    if (*count > 0) {
        const struct stale_job *last = &load->stale[*count - 1];
        const struct db_value upto[] = {db_text(last->cluster), db_text(last->cluster),
                                        db_integer(last->job)};

        if (load_run(load, RENEWED, upto, COUNT_OF(upto), err)) {
            return -1;
        }
    }
    return db_exec(load->db, "COMMIT", err);
}

int64_t db_load_finish(struct db_load *load, struct apapi_error *err)
{
    int64_t all = 0;
    size_t count = JOBS_AT_ONCE;

    if (load_commit(load, err)) {
        return -1;
    }
    while (count == JOBS_AT_ONCE) {
        if (renew_some(load, &count, err)) {
            return -1;
        }
        all += (int64_t)count;
    }
    return db_tables_finish(load->db, err) ? -1 : all;
}
