/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads lines into a database, and adds up the jobs whose records came. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "index/tables.h"
#include "record/fields.h"
#include "record/hour.h"
#include "record/record.h"

#define TRANSACTION 50000    /* records per transaction */
#define JOBS_AT_ONCE 10000   /* jobs per transaction */
#define HEAD_SIZE 4096       /* most that is read of a file's first line [bytes] */
#define WAITING_TEXT 0x40000 /* lines are written at once when they have this size [bytes] */

/* --- statements ----------------------------------------------------------------------------- */

enum load_statement {
    FIND_TWIN,
    IS_TWIN,
    IS_THERE,
    KEEP_TWIN,
    DELETE_RECORD,
    LAST_ID,
    FIND_FILE,
    FORGET_FILE,
    NOTE_FILE,
    FIND_HOUR,
    FORGET_HOUR,
    NOTE_STALE,
    STALE_JOB,
    JOB_RECORDS,
    FORGET_JOB,
    RENEWED,
    ADD_TWIN,
    ADD_JOB,
    ADD_HOUR,
    LOAD_STATEMENTS
};

#define OF_IDENTITY " WHERE job = ? AND cluster = ? AND node = ? AND start_ns = ? AND step = ?"

#define OF_HOUR " WHERE start_ns = ? AND node = ? AND cluster = ?"

static const char *const load_queries[LOAD_STATEMENTS] = {
    [FIND_TWIN] = ("SELECT id, end_ns, complete, line FROM records" OF_IDENTITY),
    [IS_TWIN] = ("SELECT 1 FROM twins" OF_IDENTITY " AND line = ?"),
    [IS_THERE] = "SELECT 1 FROM records WHERE id = ?",
    [KEEP_TWIN] = "INSERT INTO twins SELECT * FROM records WHERE id = ?",
    [DELETE_RECORD] = "DELETE FROM records WHERE id = ?",
    [LAST_ID] = ("SELECT COALESCE(MAX(id), 0) FROM (SELECT MAX(id) AS id FROM records"
                 " UNION ALL SELECT MAX(id) FROM twins) AS ids"),
    [FIND_FILE] = "SELECT bytes FROM files WHERE folder = ? AND \"day\" = ? AND file = ?",
    [FORGET_FILE] = "DELETE FROM files WHERE folder = ? AND \"day\" = ? AND file = ?",
    [NOTE_FILE] = "INSERT INTO files (folder, \"day\", file, bytes) VALUES (?, ?, ?, ?)",
    [FIND_HOUR] = ("SELECT 1 FROM hours" OF_HOUR " AND end_ns > ?"),
    [FORGET_HOUR] = ("DELETE FROM hours" OF_HOUR " AND end_ns <= ?"),
    [NOTE_STALE] =
        ("INSERT INTO stale_jobs SELECT DISTINCT cluster, job FROM records r WHERE id > ? "
         "AND job >= 0 AND NOT EXISTS (SELECT 1 FROM stale_jobs s WHERE s.cluster = "
         "r.cluster AND s.job = r.job)"),
    [STALE_JOB] = "SELECT cluster, job FROM stale_jobs ORDER BY cluster, job LIMIT 1",
    [JOB_RECORDS] =
        ("SELECT line FROM records WHERE job = ? AND cluster = ? ORDER BY COALESCE(uid, 0), "
         "start_ns, step, node"),
    [FORGET_JOB] = "DELETE FROM jobs WHERE job = ? AND cluster = ?",
    [RENEWED] = "DELETE FROM stale_jobs WHERE job = ? AND cluster = ?"};

static const struct db_table *const load_tables[LOAD_STATEMENTS] = {
    [ADD_TWIN] = &db_twins, [ADD_JOB] = &db_jobs, [ADD_HOUR] = &db_hours};

/* The records of one user with a job's ID: another user may have had a job with this ID, too. */
struct load_user {
    struct db_job job;           /* `who`: as verified records say */
    struct apapi_identity other; /* as the others say */
    struct apapi_job *records;
};

/* Records that are written at once. */
struct load_waiting {
    struct db_record records[DB_ROWS_MAX];
    size_t line_at[DB_ROWS_MAX]; /* in `text` */
    size_t count;
    char *text;
    size_t text_size, text_room;
};

struct db_load {
    struct db *db;
    bool whole;
    const char *named;       /* the folder that is read */
    char folder[PATH_MAX];   /* its name in the database; "": its files are not noted */
    char file[DB_FILE_SIZE]; /* name in the database of the file that is read */
    bool begun;
    struct db_statement *statements[LOAD_STATEMENTS];
    struct db_statement *records[DB_ROWS_MAX + 1]; /* [N] adds N records; prepared when needed */
    struct db_value values[DB_VALUES_MAX];
    struct db_load_counts counts;
    int64_t found; /* result of load_find() */
    int64_t last_id;
    int64_t committed_id; /* the last one before this transaction */
    size_t in_transaction;
    struct load_waiting waiting;
    struct load_user *users; /* of the job that is added up */
    size_t user_count, user_room;
    int64_t job_count; /* number of jobs that were added up */
};

/* @return a statement that adds `rows` rows; NULL on error. */
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
    for (int i = 0; i < LOAD_STATEMENTS; i++) {
        load->statements[i] = load_queries[i] ? db_prepare(load->db, load_queries[i], err)
                                              : prepare_insert(load->db, load_tables[i], 1, err);
        if (!load->statements[i]) {
            return -1;
        }
    }
    return 0;
}

struct db_load *db_load_create(const char *url, bool whole, struct apapi_error *err)
{
    struct db_load *load = calloc(1, sizeof *load);

    if (!load) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    load->whole = whole;
    if (db_connect(url, true, &load->db, err) || db_lock(load->db, err) ||
        db_tables_create(load->db, err) || prepare_all(load, err)) {
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
        free(load->users);
        free(load->waiting.text);
        db_close(load->db);
        free(load);
    }
    errno = saved;
}

const struct db_load_counts *db_load_counts(const struct db_load *load)
{
    return &load->counts;
}

/* Set `found` to the number that a statement finds. @return 1; 0: it finds no row; -1 */
static int load_find(struct db_load *load, enum load_statement number,
                     const struct db_value *values, size_t count, struct apapi_error *err)
{
    struct db_statement *statement = load->statements[number];
    int got = db_first(statement, values, count, err);

    if (got > 0) {
        load->found = db_column(statement, 0).integer;
    }
    db_end(statement);
    return got;
}

static int load_run(struct db_load *load, enum load_statement number, const struct db_value *values,
                    size_t count, struct apapi_error *err)
{
    return db_run(load->statements[number], values, count, err) < 0 ? -1 : 0;
}

/* --- transactions --------------------------------------------------------------------------- */

/* IDs are counted up from the greatest one, as no other import is in a transaction. */
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
    load->last_id = load->committed_id = load->found;
    return 0;
}

static int load_commit(struct db_load *load, struct apapi_error *err);

static int commit_if_due(struct db_load *load, struct apapi_error *err)
{
    return load->in_transaction < TRANSACTION ? 0 : load_commit(load, err);
}

/* --- records -------------------------------------------------------------------------------- */

/* @return how many of the rows are new; rows that exist are skipped; -1 */
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

/* Add a record whose identity exists already. The one of the two that does not count is kept as a
 * twin: a filter may select it where it does not select the other one. */
static int load_replace(struct db_load *load, struct db_record *record, struct apapi_error *err)
{
    const struct db_value key[] = {
        db_integer(record->who.job == APAPI_UNKNOWN ? -1 : (int64_t)record->who.job),
        db_text(record->who.cluster),
        db_text(record->who.node),
        db_integer(record->start_ns),
        db_text(record->who.step),
        db_bytes(record->line.text, record->line.size)};
    const struct record_twin twin = {(uint64_t)(record->end_ns - record->start_ns),
                                     record->complete,
                                     record_digest(record->line.text, record->line.size)};
    struct db_statement *find = load->statements[FIND_TWIN];
    struct record_twin known;
    struct db_value id, line;
    int found = db_first(find, key, COUNT_OF(key) - 1, err), order;

    if (found <= 0) {
        db_end(find);
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
    found = order == 0 ? 1 : load_find(load, IS_TWIN, key, COUNT_OF(key), err);
    if (found == 0) {
        found =
            load_run(load, ADD_TWIN, load->values, db_row(&db_twins, record, load->values), err);
    }
    return found < 0 ? -1 : 0;
}

static int load_records(struct db_load *load, struct db_record *records, size_t count,
                        struct apapi_error *err)
{
    int64_t added = insert_records(load, records, count, err);

    for (size_t i = 0; i < count && added >= 0; i++) {
        const struct db_value id = db_integer(records[i].id);
        int is_new = added == (int64_t)count ? 1
                     : added == 0            ? 0 /* if only some are new, look at each */
                                             : load_find(load, IS_THERE, &id, 1, err);

        load->counts.added += is_new > 0;
        if (is_new < 0 || (is_new == 0 && load_replace(load, &records[i], err))) {
            return -1;
        }
    }
    load->in_transaction += count;
    return added < 0 ? -1 : 0;
}

static int write_waiting(struct db_load *load, struct apapi_error *err)
{
    struct load_waiting *waiting = &load->waiting;
    const size_t rows = db_dialect(load->db)->rows;

    if (waiting->count == 0) {
        return 0;
    }
    for (size_t i = 0; i < waiting->count; i++) {
        waiting->records[i].line.text = waiting->text + waiting->line_at[i];
    }
    for (size_t i = 0; i < waiting->count; i += rows) {
        size_t count = waiting->count - i < rows ? waiting->count - i : rows;

        if (load_records(load, waiting->records + i, count, err)) {
            return -1;
        }
    }
    waiting->count = waiting->text_size = 0;
    return 0;
}

static struct db_record row_of(const struct apapi_record *record, size_t size)
{
    const struct apapi_measurement *m = &record->measurement;
    struct db_record row = {.who = record->id,
                            .complete = record->complete,
                            .start_ns = m->start_unix_ns,
                            .end_ns = record_end_ns(m),
                            .elapsed_s = (double)m->elapsed_ns / 1e9,
                            .energy_j = apapi_measurement_total_j(m),
                            .uncertainty_j = apapi_record_uncertainty_j(m),
                            .mean_w = apapi_measurement_total_w(m),
                            .line.size = size};

    timestamp_day(row.day, sizeof row.day, row.end_ns);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row.domains_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
    }
    return row;
}

int db_load_record(const struct apapi_record *record, const char *line, size_t size, void *context)
{
    struct db_load *load = context;
    struct load_waiting *waiting = &load->waiting;
    struct apapi_error *err = &load->counts.err;

    if (load_begin(load, err)) {
        return -1;
    }
    if (array_extend(&waiting->text, waiting->text_size, size, &waiting->text_room, 1)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    memcpy(waiting->text + waiting->text_size, line, size);
    waiting->records[waiting->count] = row_of(record, size);
    waiting->line_at[waiting->count++] = waiting->text_size;
    waiting->text_size += size;
    if (waiting->count < DB_ROWS_MAX && waiting->text_size < WAITING_TEXT) {
        return 0;
    }
    return write_waiting(load, err) || commit_if_due(load, err) ? -1 : 0;
}

/* Of several lines of a node that begin at the same moment, the one that ends last counts. */
static int load_replace_hour(struct db_load *load, const struct db_hour *row,
                             struct apapi_error *err)
{
    const struct hour *hour = &row->hour;
    const struct db_value key[] = {db_integer(hour->start_ns), db_text(hour->node),
                                   db_text(hour->cluster), db_integer(hour->end_ns)};
    int found = load_find(load, FIND_HOUR, key, COUNT_OF(key), err);

    if (found == 0) {
        found = load_run(load, FORGET_HOUR, key, COUNT_OF(key), err) ||
                        load_run(load, ADD_HOUR, load->values, db_row(&db_hours, row, load->values),
                                 err)
                    ? -1
                    : 0;
    }
    return found < 0 ? -1 : 0;
}

int db_load_hour(const struct hour *hour, void *context)
{
    struct db_load *load = context;
    struct apapi_error *err = &load->counts.err;
    struct db_hour row = {.hour = *hour};
    char *line = hour_encode(hour);
    int result = line ? load_begin(load, err) : apapi_fail(err, ENOMEM, "no memory");

    if (line && result == 0) {
        row.line = (struct db_line){line, strlen(line)};
        result = load_replace_hour(load, &row, err);
    }
    free(line);
    load->counts.hours += result == 0;
    load->in_transaction++;
    return result || commit_if_due(load, err) ? -1 : 0;
}

/* --- files ---------------------------------------------------------------------------------- */

static void name_folder(struct db_load *load, const char *folder)
{
    if (folder != load->named) {
        load->named = folder;
        if (!load->whole || !realpath(folder, load->folder) ||
            strlen(load->folder) >= DB_FOLDER_SIZE) {
            load->folder[0] = '\0';
        }
    }
}

/* Name the file also by its first line: another cluster may have a node of the same name. */
static void name_file(struct db_load *load, const struct apapi_scan_file *file)
{
    char first[HEAD_SIZE];
    ssize_t size = pread(file->fd, first, sizeof first, 0);
    const char *end;

    size = size < 0 ? 0 : size;
    end = memchr(first, '\n', (size_t)size);
    snprintf(load->file, sizeof load->file, "%.200s#%016" PRIx64, file->name,
             record_digest(first, end ? (size_t)(end - first) : (size_t)size));
}

bool db_load_begin(const char *folder, const struct apapi_scan_file *file, uint64_t *offset,
                   void *context)
{
    struct db_load *load = context;
    int found = 0;

    if (*load->counts.err.text) {
        return false;
    }
    name_folder(load, folder);
    if (*load->folder) {
        name_file(load, file);
        found = load_find(
            load, FIND_FILE,
            (struct db_value[]){db_text(load->folder), db_text(file->day), db_text(load->file)}, 3,
            &load->counts.err);
    }
    *offset = found > 0 && (uint64_t)load->found <= file->size ? (uint64_t)load->found : 0;
    return found >= 0 && *offset < file->size;
}

void db_load_end(const char *folder, const struct apapi_scan_file *file, uint64_t offset,
                 void *context)
{
    struct db_load *load = context;
    struct apapi_error *err = &load->counts.err;
    const struct db_value values[] = {db_text(load->folder), db_text(file->day),
                                      db_text(load->file), db_integer((int64_t)offset)};

    (void)folder;
    if (*load->folder && !*err->text && load_begin(load, err) == 0 &&
        write_waiting(load, err) == 0 && load_run(load, FORGET_FILE, values, 3, err) == 0 &&
        load_run(load, NOTE_FILE, values, 4, err) == 0) {
        commit_if_due(load, err);
    }
}

/* --- jobs ----------------------------------------------------------------------------------- */

static int load_commit(struct db_load *load, struct apapi_error *err)
{
    struct db_value last;

    if (!load->begun) {
        return 0;
    }
    last = db_integer(load->committed_id);
    if (write_waiting(load, err) || load_run(load, NOTE_STALE, &last, 1, err)) {
        return -1;
    }
    load->begun = false;
    load->in_transaction = 0;
    return db_exec(load->db, "COMMIT", err);
}

/* Add what a record says of its job to what earlier ones have said: each word that is new, and
 * which part of an array or het job it is, where a verified record has the last word. */
static void learn(struct apapi_identity *known, const struct apapi_identity *id)
{
    for (const struct field *field = db_jobs.fields; field->key; field++) {
        char *text = (char *)known + field->offset; /* `who` is first in struct db_job */

        if (field->form == FIELD_TEXT && field->offset < sizeof *known && !*text) {
            memcpy(text, (const char *)id + field->offset, field->size);
        }
    }
    if (!known->verified && known->array_job == APAPI_UNKNOWN && known->het_job == APAPI_UNKNOWN) {
        known->array_job = id->array_job;
        known->array_task = id->array_task;
        known->het_job = id->het_job;
        known->het_offset = id->het_offset;
    }
    known->verified |= id->verified;
}

/* Records come sorted by user and start. */
static int add_record(struct db_load *load, const struct apapi_record *record)
{
    uint32_t uid = record->id.uid == APAPI_UNKNOWN ? 0 : record->id.uid;
    struct load_user *user = load->user_count ? &load->users[load->user_count - 1] : NULL;

    if (!user || user->job.uid != uid) {
        if (array_add(&load->users, load->user_count, &load->user_room, sizeof *user)) {
            return -1;
        }
        user = &load->users[load->user_count++];
        *user = (struct load_user){{.who = APAPI_IDENTITY_UNKNOWN, .uid = uid},
                                   APAPI_IDENTITY_UNKNOWN,
                                   apapi_job_create()};
        user->job.who.job = record->id.job;
    }
    learn(record->id.verified ? &user->job.who : &user->other, &record->id);
    return user->records ? apapi_job_add(user->records, record) : -1;
}

static int add_line(struct db_load *load, const struct db_value *line)
{
    struct apapi_record record;
    int result;

    if (!line->text || apapi_record_decode(line->text, line->size, &record, NULL)) {
        return line->text && errno == ENOMEM ? -1 : 0; /* 0: no import has written this line */
    }
    result = add_record(load, &record);
    apapi_record_clear(&record);
    return result;
}

static int write_job(struct db_load *load, struct load_user *user, struct apapi_error *err)
{
    struct db_job *job = &user->job;

    learn(&job->who, &user->other);
    if (apapi_job_total(user->records, &job->total)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    job->total.node_s = job->total.node_s > 0 ? job->total.node_s : NAN;
    timestamp_day(job->day, sizeof job->day, job->total.end_unix_ns);
    domain_list_text(job->total.missing_domains, ",", job->missing_domains);
    return load_run(load, ADD_JOB, load->values, db_row(&db_jobs, job, load->values), err);
}

/* @param key  job and cluster */
static int renew_job(struct db_load *load, const struct db_value key[2], struct apapi_error *err)
{
    struct db_statement *lines = load->statements[JOB_RECORDS];
    int got = db_first(lines, key, 2, err);

    for (; got > 0; got = got < 0 ? -1 : db_step(lines, err)) {
        const struct db_value line = db_column(lines, 0);

        got = add_line(load, &line) ? apapi_fail(err, ENOMEM, "no memory") : got;
    }
    db_end(lines);
    got = got || load_run(load, FORGET_JOB, key, 2, err) ? -1 : 0;
    for (size_t i = 0; i < load->user_count; i++) {
        got = got ? got : write_job(load, &load->users[i], err);
        apapi_job_destroy(load->users[i].records);
    }
    load->user_count = 0;
    return got || load_run(load, RENEWED, key, 2, err) ? -1 : 0;
}

/* Renew the total of the next job that needs it. @return 1; 0: there is no such job; -1 */
static int renew_next(struct db_load *load, struct apapi_error *err)
{
    struct db_statement *next = load->statements[STALE_JOB];
    int got = db_first(next, NULL, 0, err);
    char cluster[APAPI_TEXT_SIZE];
    struct db_value key[2];

    if (got > 0) {
        key[1] = db_column(next, 0);
        snprintf(cluster, sizeof cluster, "%.*s", (int)key[1].size, key[1].text);
        key[0] = db_column(next, 1);
        key[1] = db_text(cluster);
    }
    db_end(next);
    return got > 0 && renew_job(load, key, err) ? -1 : got;
}

int64_t db_load_finish(struct db_load *load, struct apapi_error *err)
{
    int got = load_commit(load, err) ? -1 : 1;

    while (got > 0) {
        got = db_begin(load->db, err) ? -1 : 1;
        for (int i = 0; i < JOBS_AT_ONCE && got > 0; i++) {
            got = renew_next(load, err);
            load->job_count += got > 0;
        }
        got = got < 0 || db_exec(load->db, "COMMIT", err) ? -1 : got;
    }
    return got < 0 ? -1 : load->job_count;
}
