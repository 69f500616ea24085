/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads lines into a database, and adds up the jobs whose records came: while they are in memory,
 * if one transaction has all of a job's records, else at the end from the lines.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "index/tables.h"
#include "record/hour.h"
#include "record/record.h"
#include "sum/sum.h"

#define TRANSACTION 50000    /* records per transaction */
#define SUMS_SIZE 0x1400000  /* less, if what is kept of them takes so much [bytes] */
#define JOBS_AT_ONCE 10000   /* in a transaction */
#define WAITING_TEXT 0x40000 /* of lines that are written at once, or somewhat more [bytes] */

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
    JOB_STANDS,
    STALE_JOB,
    JOB_RECORDS,
    FORGET_JOB,
    RENEWED,
    ADD_TWIN,
    ADD_JOB,
    ADD_HOUR,
    ADD_STALE,
    LOAD_STATEMENTS
};

#define OF_IDENTITY " WHERE job = ? AND cluster = ? AND node = ? AND start_ns = ? AND step = ?"

static const char *const load_queries[LOAD_STATEMENTS] = {
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
    [JOB_STANDS] = "SELECT COUNT(*), MIN(id) FROM records WHERE job = ? AND cluster = ?",
    [STALE_JOB] = "SELECT cluster, job FROM stale_jobs ORDER BY cluster, job LIMIT 1",
    [JOB_RECORDS] = "SELECT line FROM records WHERE job = ? AND cluster = ?",
    [FORGET_JOB] = "DELETE FROM jobs WHERE job = ? AND cluster = ?",
    [RENEWED] = "DELETE FROM stale_jobs WHERE job = ? AND cluster = ?"};

static const struct db_table *const load_tables[LOAD_STATEMENTS] = {[ADD_TWIN] = &db_twins,
                                                                    [ADD_JOB] = &db_jobs,
                                                                    [ADD_HOUR] = &db_hours,
                                                                    [ADD_STALE] = &db_stale_jobs};

/* Texts of a record's identity that a job has. */
static const struct {
    size_t offset, size;
} part_texts[] = {
#define PART_TEXT(member)                                                                          \
    {                                                                                              \
        offsetof(struct apapi_identity, member), sizeof(((struct apapi_identity *)NULL)->member)   \
    }
    PART_TEXT(cluster), PART_TEXT(job_name),  PART_TEXT(user),
    PART_TEXT(account), PART_TEXT(partition), PART_TEXT(qos)};

/* A record whose job is added up. */
struct load_part {
    uint32_t piece;                  /* in the store */
    uint32_t curves_at, curve_count; /* in the file of curves [floats]; 0 of them: in the store */
    uint32_t uid, array_job, array_task, het_job, het_offset;
    uint32_t texts[COUNT_OF(part_texts)]; /* of the store */
    bool verified;
    bool replaced; /* another one of its identity does not count any more */
};

/* Records that are written at once. */
struct load_waiting {
    struct db_record records[DB_ROWS_MAX];
    struct load_part parts[DB_ROWS_MAX];
    size_t line_at[DB_ROWS_MAX]; /* in `text` */
    size_t count;
    char *text;
    size_t text_size, text_room;
    size_t domain_at; /* of the first one, in the store */
};

struct db_load {
    struct db *db;
    bool begun;
    struct db_statement *statements[LOAD_STATEMENTS];
    struct db_statement *records[DB_ROWS_MAX + 1]; /* that add so many, prepared when needed */
    struct db_value values[DB_VALUES_MAX];
    struct db_load_counts counts;
    int64_t found[2];          /* by load_find() */
    int64_t last_id, first_id; /* first_id: the last one before this import; -1: not known */
    size_t in_transaction;
    struct load_waiting waiting;
    struct sum_store sums; /* of this transaction, or of a job while it is added up again */
    struct load_part *parts;
    size_t part_count, part_room;
    FILE *curves;
    uint64_t curve_count; /* in it [floats]; those of waiting records are in the store */
    bool curves_lost;     /* of this transaction */
    int64_t job_count;    /* added up */
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
        fputs(table == &db_records || table == &db_stale_jobs ? db_dialect(db)->skip : "", sql);
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

struct db_load *db_load_create(struct db *db, struct apapi_error *err)
{
    struct db_load *load = calloc(1, sizeof *load);

    if (!load) {
        apapi_fail(err, ENOMEM, "no memory");
        return NULL;
    }
    load->db = db;
    load->first_id = -1;
    if (db_lock(db, err) || db_tables_create(db, err) || prepare_all(load, err)) {
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
        sum_free(&load->sums);
        free(load->parts);
        free(load->waiting.text);
        if (load->curves) {
            fclose(load->curves);
        }
        free(load);
    }
    errno = saved;
}

const struct db_load_counts *db_load_counts(const struct db_load *load)
{
    return &load->counts;
}

/* Set `found` to the numbers of a statement that has at most one row. @return 1: it has; 0; -1 */
static int load_find(struct db_load *load, enum load_statement number,
                     const struct db_value *values, size_t count, struct apapi_error *err)
{
    struct db_statement *statement = load->statements[number];
    int got = db_first(statement, values, count, err);

    for (size_t i = 0; got > 0 && i < (number == JOB_STANDS ? 2 : 1); i++) {
        load->found[i] = db_column(statement, i).integer;
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
    load->last_id = load->found[0];
    load->first_id = load->first_id < 0 ? load->last_id : load->first_id;
    return 0;
}

static int load_commit(struct db_load *load, struct apapi_error *err);

static int commit_if_due(struct db_load *load, struct apapi_error *err)
{
    const struct sum_store *sums = &load->sums;
    size_t size =
        sums->piece_count * sizeof *sums->pieces + sums->domain_count * sizeof *sums->domains;

    return load->in_transaction < TRANSACTION && size < SUMS_SIZE ? 0 : load_commit(load, err);
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
 * selected where the other one is not. @return 1: this one counts; 0; -1 */
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
    int found = db_first(find, key, COUNT_OF(key), err), order;

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
                   : 1;
    }
    load->counts.known++;
    found = order == 0 ? 1 : is_twin(load, &record->line, key, COUNT_OF(key), err);
    if (found == 0) {
        found =
            load_run(load, ADD_TWIN, load->values, db_row(&db_twins, record, load->values), err);
    }
    return found < 0 ? -1 : 0;
}

/* @param part  where the record is */
static int add_part(struct db_load *load, const struct apapi_identity *who, struct load_part part)
{
    bool failed = false;

    part.uid = who->uid == APAPI_UNKNOWN ? 0 : who->uid;
    part.array_job = who->array_job;
    part.array_task = who->array_task;
    part.het_job = who->het_job;
    part.het_offset = who->het_offset;
    part.verified = who->verified;
    for (size_t i = 0; i < COUNT_OF(part_texts); i++) {
        part.texts[i] = pool_put(&load->sums.texts, (const char *)who + part_texts[i].offset);
        failed = failed || part.texts[i] == POOL_NONE;
    }
    if (failed || array_add(&load->parts, load->part_count, &load->part_room, sizeof part)) {
        return -1;
    }
    load->parts[load->part_count++] = part;
    return 0;
}

/* Put the curves of waiting records at the end of the file. Without room for them, jobs are added
 * up from the lines. */
static void keep_curves(struct db_load *load)
{
    struct sum_store *sums = &load->sums;
    size_t size = sums->curve_count * sizeof *sums->curves;

    if (size == 0) {
        return;
    }
    load->curves = load->curves ? load->curves : tmpfile();
    load->curves_lost = load->curves_lost || !load->curves ||
                        pwrite(fileno(load->curves), sums->curves, size,
                               (off_t)(load->curve_count * sizeof *sums->curves)) != (ssize_t)size;
    for (size_t d = load->waiting.domain_at; d < sums->domain_count; d++) {
        sums->domains[d].curve +=
            sums->domains[d].curve == SUM_NO_CURVE ? 0 : (uint32_t)load->curve_count;
    }
    load->curve_count += sums->curve_count;
    sums->curve_count = 0;
}

static int load_records(struct db_load *load, struct db_record *records, size_t count,
                        const struct load_part *parts, struct apapi_error *err)
{
    int64_t added = insert_records(load, records, count, err);

    for (size_t i = 0; i < count && added >= 0; i++) {
        struct load_part part = parts[i];
        const struct db_value id = db_integer(records[i].id);
        int is_new = added == (int64_t)count ? 1
                     : added == 0            ? 0 /* else a twin may have been there */
                                             : load_find(load, IS_THERE, &id, 1, err);
        int counts = is_new == 0 ? load_replace(load, &records[i], err) : is_new;

        load->counts.added += is_new > 0;
        part.replaced = is_new == 0;
        if (counts < 0) {
            return -1;
        }
        if (counts > 0 && records[i].who.job != APAPI_UNKNOWN &&
            add_part(load, &records[i].who, part)) {
            return apapi_fail(err, ENOMEM, "no memory");
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
    keep_curves(load);
    for (size_t i = 0; i < waiting->count; i++) {
        waiting->records[i].line.text = waiting->text + waiting->line_at[i];
    }
    for (size_t i = 0; i < waiting->count; i += rows) {
        size_t count = waiting->count - i < rows ? waiting->count - i : rows;

        if (load_records(load, waiting->records + i, count, waiting->parts + i, err)) {
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

int db_load_record(struct db_load *load, const struct apapi_record *record, const char *line,
                   size_t size, struct apapi_error *err)
{
    struct load_waiting *waiting = &load->waiting;
    struct sum_store *sums = &load->sums;
    struct load_part *part = &waiting->parts[waiting->count];
    size_t curves = sums->curve_count;

    if (load_begin(load, err)) {
        return -1;
    }
    waiting->domain_at = waiting->count ? waiting->domain_at : sums->domain_count;
    *part = (struct load_part){.piece = (uint32_t)sums->piece_count,
                               .curves_at = (uint32_t)(load->curve_count + curves)};
    if (array_extend(&waiting->text, waiting->text_size, size, &waiting->text_room, 1) ||
        sum_add(sums, record, NULL)) {
        return apapi_fail(err, ENOMEM, "no memory");
    }
    part->curve_count = (uint32_t)(sums->curve_count - curves);
    memcpy(waiting->text + waiting->text_size, line, size);
    waiting->records[waiting->count] = row_of(record, size);
    waiting->line_at[waiting->count++] = waiting->text_size;
    waiting->text_size += size;
    if (waiting->count < DB_ROWS_MAX && waiting->text_size < WAITING_TEXT) {
        return 0;
    }
    return write_waiting(load, err) || commit_if_due(load, err) ? -1 : 0;
}

int db_load_note(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                 uint64_t offset, struct apapi_error *err)
{
    const struct db_value values[] = {db_text(folder), db_text(file->day), db_text(file->name),
                                      db_integer((int64_t)offset)};

    return load_begin(load, err) || write_waiting(load, err) ||
                   load_run(load, FORGET_FILE, values, 3, err) ||
                   load_run(load, NOTE_FILE, values, 4, err) || commit_if_due(load, err)
               ? -1
               : 0;
}

int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err)
{
    const struct db_value key[] = {db_text(folder), db_text(file->day), db_text(file->name)};
    int found = load_find(load, FIND_FILE, key, COUNT_OF(key), err);

    return found > 0 ? load->found[0] : found;
}

int db_load_hour(struct db_load *load, const struct hour *hour, struct apapi_error *err)
{
    const struct db_value key[] = {db_integer(hour->start_ns), db_text(hour->node),
                                   db_text(hour->cluster), db_integer(hour->end_ns)};
    struct db_hour row = {.hour = *hour};
    char *line = hour_encode(hour);
    int result = line ? load_begin(load, err) : apapi_fail(err, ENOMEM, "no memory");

    if (line && result == 0) {
        row.line = (struct db_line){line, strlen(line)};
        result = load_run(load, FORGET_HOUR, key, COUNT_OF(key), err) ||
                         load_run(load, ADD_HOUR, load->values,
                                  db_row(&db_hours, &row, load->values), err)
                     ? -1
                     : 0;
    }
    free(line);
    load->counts.hours += result == 0;
    load->in_transaction++;
    return result || commit_if_due(load, err) ? -1 : 0;
}

/* --- jobs ----------------------------------------------------------------------------------- */

static int write_job(struct db_load *load, struct db_job *row, const struct apapi_job_total *total,
                     struct apapi_error *err)
{
    row->total = *total;
    row->total.node_s = total->node_s > 0 ? total->node_s : NAN;
    timestamp_day(row->day, sizeof row->day, total->end_unix_ns);
    domain_list_text(total->missing_domains, ",", row->missing_domains);
    return load_run(load, ADD_JOB, load->values, db_row(&db_jobs, row, load->values), err);
}

static const struct sum_piece *piece_of(const struct db_load *load, const struct load_part *part)
{
    return &load->sums.pieces[part->piece];
}

static int load_compare_texts(const struct db_load *load, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strcmp(pool_text(&load->sums.texts, a), pool_text(&load->sums.texts, b));
}

/* By job and user. */
static int load_compare_parts(const void *left, const void *right, void *context)
{
    const struct db_load *load = context;
    const struct load_part *a = left, *b = right;
    const struct sum_piece *x = piece_of(load, a), *y = piece_of(load, b);
    int order = COMPARE(x->job, y->job);

    order = order ? order : load_compare_texts(load, x->cluster, y->cluster);
    order = order ? order : COMPARE(a->uid, b->uid);
    order = order ? order : load_compare_texts(load, x->node, y->node);
    order = order ? order : COMPARE(x->start_ns, y->start_ns);
    return order ? order : load_compare_texts(load, x->step, y->step);
}

static void sort_parts(struct db_load *load)
{
    if (load->part_count > 0) {
        qsort_r(load->parts, load->part_count, sizeof *load->parts, load_compare_parts, load);
    }
}

static struct apapi_identity identity_of(const struct db_load *load, const struct load_part *part)
{
    struct apapi_identity who = {.job = piece_of(load, part)->job,
                                 .array_job = part->array_job,
                                 .array_task = part->array_task,
                                 .het_job = part->het_job,
                                 .het_offset = part->het_offset,
                                 .verified = part->verified};

    for (size_t i = 0; i < COUNT_OF(part_texts); i++) {
        snprintf((char *)&who + part_texts[i].offset, part_texts[i].size, "%s",
                 pool_text(&load->sums.texts, part->texts[i]));
    }
    return who;
}

/* Read the curves of these records. @return 0; -1 with errno */
static int read_curves(struct db_load *load, const struct load_part *parts, size_t count)
{
    struct sum_store *sums = &load->sums;
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        const struct load_part *part = &parts[i];
        size_t size = part->curve_count * sizeof *sums->curves;
        struct sum_domain *domains = sums->domains + piece_of(load, part)->domain_at;
        ssize_t got;

        if (size == 0) {
            continue;
        }
        if (array_extend(&sums->curves, used, part->curve_count, &sums->curve_room,
                         sizeof *sums->curves)) {
            return -1;
        }
        got = pread(fileno(load->curves), sums->curves + used, size,
                    (off_t)(part->curves_at * sizeof *sums->curves));
        if (got != (ssize_t)size) {
            errno = got < 0 ? errno : EIO;
            return -1;
        }
        for (size_t d = 0; d < piece_of(load, part)->domain_count; d++) {
            domains[d].curve +=
                domains[d].curve == SUM_NO_CURVE ? 0 : (uint32_t)used - part->curves_at;
        }
        used += part->curve_count;
    }
    return 0;
}

/* Add up the records of a job and user. Slurm's values precede those of the step's environment. */
static int add_up_user(struct db_load *load, const struct load_part *parts, size_t count,
                       struct apapi_error *err)
{
    struct db_job row = {.uid = parts->uid};
    uint32_t *pieces = calloc(count, sizeof *pieces);
    struct sum_entries list = {NULL, 0};
    struct apapi_job_total total;
    size_t best = 0;
    int result = -1;

    for (size_t i = 0; i < count && pieces; i++) {
        pieces[i] = parts[i].piece;
        best = parts[i].verified && !parts[best].verified ? i : best;
    }
    row.who = identity_of(load, &parts[best]);
    if (!pieces || read_curves(load, parts, count) ||
        sum_gather(&load->sums, pieces, count, &list) || sum_total(&load->sums, &list, &total)) {
        apapi_fail(err, errno, "the totals of jobs: %s", strerror(errno));
    } else {
        result = write_job(load, &row, &total, err);
    }
    free(list.list);
    free(pieces);
    return result;
}

/* @return how many parts are of the first one's job, or also of its user */
static size_t same_parts(const struct db_load *load, const struct load_part *parts, size_t count,
                         bool user)
{
    const struct sum_piece *first = piece_of(load, parts);
    size_t same = 1;

    while (same < count && piece_of(load, &parts[same])->job == first->job &&
           piece_of(load, &parts[same])->cluster == first->cluster &&
           (!user || parts[same].uid == parts->uid)) {
        same++;
    }
    return same;
}

/* A number may have been several users': each has a row. */
static int add_up_job(struct db_load *load, const struct load_part *parts, size_t count,
                      struct apapi_error *err)
{
    for (size_t i = 0, same; i < count; i += same) {
        same = same_parts(load, parts + i, count - i, true);
        if (add_up_user(load, parts + i, same, err)) {
            return -1;
        }
    }
    return 0;
}

static void forget_parts(struct db_load *load)
{
    sum_free(&load->sums);
    load->part_count = 0;
    load->curve_count = 0;
    load->curves_lost = false;
}

/* --- jobs whose records are all in one transaction ------------------------------------------- */

/* Add up the records of one job, or note it, if the database has others of it. */
static int settle_job(struct db_load *load, const struct load_part *parts, size_t count,
                      struct apapi_error *err)
{
    const struct sum_piece *piece = piece_of(load, parts);
    const struct db_value key[] = {db_integer(piece->job),
                                   db_text(pool_text(&load->sums.texts, piece->cluster))};
    const struct db_value stale[] = {key[1], key[0]};
    int got = load_find(load, JOB_STANDS, key, COUNT_OF(key), err);
    bool replaced = false, whole, of_import;
    int64_t known;

    if (got <= 0) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        replaced = replaced || parts[i].replaced;
    }
    whole = !replaced && !load->curves_lost && load->found[0] == (int64_t)count;
    of_import = !replaced && load->found[1] > load->first_id;
    known = db_run(load->statements[FORGET_JOB], key, COUNT_OF(key), err);
    if (known < 0 || (!whole && load_run(load, ADD_STALE, stale, COUNT_OF(stale), err))) {
        return -1;
    }
    load->job_count += whole ? 1 : -(int64_t)(known > 0 && of_import); /* it was counted before */
    return whole ? add_up_job(load, parts, count, err) : 0;
}

static int load_commit(struct db_load *load, struct apapi_error *err)
{
    int result;

    if (!load->begun) {
        return 0;
    }
    result = write_waiting(load, err);
    sort_parts(load);
    for (size_t i = 0, same; i < load->part_count && result == 0; i += same) {
        same = same_parts(load, load->parts + i, load->part_count - i, false);
        result = settle_job(load, load->parts + i, same, err);
    }
    forget_parts(load);
    load->begun = false;
    load->in_transaction = 0;
    return result ? -1 : db_exec(load->db, "COMMIT", err);
}

/* --- jobs with records in several transactions ----------------------------------------------- */

static int add_line(struct db_load *load, const struct db_value *line)
{
    struct load_part part = {.piece = (uint32_t)load->sums.piece_count};
    struct apapi_record record;
    int result;

    if (!line->text || apapi_record_decode(line->text, line->size, &record, NULL)) {
        return line->text && errno == ENOMEM ? -1 : 0; /* no import has written it */
    }
    result = sum_add(&load->sums, &record, NULL) || add_part(load, &record.id, part) ? -1 : 0;
    apapi_record_clear(&record);
    return result;
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
    if (got == 0) {
        sort_parts(load);
        got = load_run(load, FORGET_JOB, key, 2, err) ||
                      add_up_job(load, load->parts, load->part_count, err) ||
                      load_run(load, RENEWED, key, 2, err)
                  ? -1
                  : 0;
    }
    forget_parts(load);
    return got;
}

/* @return 1: there was one; 0; -1 */
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
