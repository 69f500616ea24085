/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/db_load.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/db_load_jobs.h"
#include "record/db_member.h"
#include "record/db_tables.h"
#include "record/timestamp.h"

#define BATCH 10000 /* records in a transaction */
#define MARKED 1024

enum statement {
    FIND,
    DELETE_EVENTS,
    DELETE_COMPONENTS,
    DELETE_DOMAINS,
    DELETE_RECORD,
    FIND_FILE,
    NOTE_FILE,
    LAST_ID,
    FIXED_STATEMENTS,
    ADD_RECORD = FIXED_STATEMENTS,
    ADD_DOMAIN,
    ADD_COMPONENT,
    ADD_EVENT,
    ADD_JOB,
    STATEMENTS
};

static const char find_by_key[] =
    "SELECT id, elapsed_s FROM records WHERE cluster = ? AND job = ? AND step = ? AND node = ? AND "
    "start_ns = ?";

static const char *const fixed[] = {
    [FIND] = find_by_key,
    [DELETE_EVENTS] = "DELETE FROM events WHERE record = ?",
    [DELETE_COMPONENTS] = "DELETE FROM components WHERE record = ?",
    [DELETE_DOMAINS] = "DELETE FROM domains WHERE record = ?",
    [DELETE_RECORD] = "DELETE FROM records WHERE id = ?",
    [FIND_FILE] = "SELECT bytes FROM files WHERE folder = ? AND day = ? AND file = ?",
    [NOTE_FILE] = "REPLACE INTO files (folder, day, file, bytes) VALUES (?, ?, ?, ?)",
    [LAST_ID] = "SELECT COALESCE(MAX(id), 0) FROM records"};

static const struct db_table *const tables[] = {[ADD_RECORD - FIXED_STATEMENTS] = &db_records,
                                                [ADD_DOMAIN - FIXED_STATEMENTS] = &db_domains,
                                                [ADD_COMPONENT - FIXED_STATEMENTS] = &db_components,
                                                [ADD_EVENT - FIXED_STATEMENTS] = &db_events,
                                                [ADD_JOB - FIXED_STATEMENTS] = &db_jobs};

struct marked {
    char cluster[64];
    uint32_t job; /* 0: none */
};

struct db_load {
    struct db *db;
    bool with_events, begun;
    struct db_statement *statements[STATEMENTS];
    struct db_load_counts counts;
    int64_t last_id;
    size_t in_batch;
    struct marked marked[MARKED]; /* by the job's number; jobs that are marked in this batch */
};

static int prepare_all(struct db_load *load, struct apapi_error *err)
{
    for (int i = 0; i < STATEMENTS; i++) {
        load->statements[i] = i < FIXED_STATEMENTS
                                  ? db_prepare(load->db, fixed[i], err)
                                  : db_insert_prepare(load->db, tables[i - FIXED_STATEMENTS], err);
        if (!load->statements[i]) {
            return -1;
        }
    }
    return 0;
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
        for (int i = 0; i < STATEMENTS; i++) {
            db_finalize(load->statements[i]);
        }
        free(load);
    }
    errno = saved;
}

const struct db_load_counts *db_load_counts(const struct db_load *load)
{
    return &load->counts;
}

/* --- transactions --------------------------------------------------------------------------- */

/* Ids are counted up from the greatest one: no other import is in a transaction now. */
static int begin(struct db_load *load, struct apapi_error *err)
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
    load->in_batch = 0;
    memset(load->marked, 0, sizeof load->marked);
    return db_commit(load->db, err);
}

/* --- records -------------------------------------------------------------------------------- */

static int find(struct db_load *load, const struct apapi_record *record, int64_t *id,
                double *elapsed_s, struct apapi_error *err)
{
    const struct apapi_identity *who = &record->id;
    const struct db_value key[] = {
        db_text(who->cluster), db_integer(who->job == APAPI_UNKNOWN ? 0 : who->job),
        db_text(who->step), db_text(who->node), db_integer(record->measurement.start_unix_ns)};
    struct db_statement *statement = load->statements[FIND];
    int found = db_first(statement, key, sizeof key / sizeof *key, err);

    if (found > 0) {
        *id = db_column(statement, 0).integer;
        *elapsed_s = db_column(statement, 1).real;
    }
    db_end(statement);
    return found;
}

static int forget(struct db_load *load, int64_t id, struct apapi_error *err)
{
    const struct db_value value = db_integer(id);

    for (int i = DELETE_EVENTS; i <= DELETE_RECORD; i++) {
        if (db_run(load->statements[i], &value, 1, err)) {
            return -1;
        }
    }
    return 0;
}

static int add_domains(struct db_load *load, int64_t id, const struct apapi_measurement *m,
                       struct apapi_error *err)
{
    for (enum apapi_domain d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const void *const bases[] = {&d, &m->domains[d]};

        if (m->domains[d].measured &&
            db_insert(load->statements[ADD_DOMAIN], &db_domains,
                      &(struct db_row){.keys = &id, .bases = bases}, err)) {
            return -1;
        }
    }
    return 0;
}

static int add_events(struct db_load *load, int64_t id, size_t number,
                      const struct apapi_component_result *component, struct apapi_error *err)
{
    for (size_t i = 0; i < component->event_count; i++) {
        const int64_t keys[] = {id, (int64_t)number, (int64_t)i};
        const void *const bases[] = {&component->events[i]};

        if (db_insert(load->statements[ADD_EVENT], &db_events,
                      &(struct db_row){.keys = keys, .bases = bases}, err)) {
            return -1;
        }
    }
    return 0;
}

static int add_components(struct db_load *load, int64_t id, const struct apapi_measurement *m,
                          struct apapi_error *err)
{
    for (size_t i = 0; i < m->component_count; i++) {
        const int64_t keys[] = {id, (int64_t)i};
        const void *const bases[] = {&m->components[i]};

        if (db_insert(load->statements[ADD_COMPONENT], &db_components,
                      &(struct db_row){.keys = keys, .bases = bases}, err) ||
            add_events(load, id, i, &m->components[i], err)) {
            return -1;
        }
    }
    return 0;
}

static struct db_derived derive(const struct apapi_measurement *m)
{
    struct db_derived derived = {.energy_j = apapi_measurement_total_j(m),
                                 .uncertainty_j = apapi_record_uncertainty_j(m),
                                 .mean_w = apapi_measurement_total_w(m)};

    if (m->elapsed_ns > INT64_MAX ||
        __builtin_add_overflow(m->start_unix_ns, (int64_t)m->elapsed_ns, &derived.end_unix_ns)) {
        derived.end_unix_ns = INT64_MAX;
    }
    timestamp_day(derived.day, sizeof derived.day, derived.end_unix_ns);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        derived.domains_j[d] = m->domains[d].measured ? m->domains[d].energy_j : NAN;
    }
    return derived;
}

static int add_row(struct db_load *load, const struct apapi_record *record, const char *line,
                   size_t size, struct apapi_error *err)
{
    const struct apapi_measurement *m = &record->measurement;
    const struct db_derived derived = derive(m);
    const void *const bases[] = {record, m, &derived};
    int64_t id = ++load->last_id;
    struct db_row row = {.keys = &id, .bases = bases};

    row.text.text = json_member(line, size, "timeline", &row.text.size);
    row.text.type = row.text.text ? DB_TEXT : DB_NULL;
    if (db_insert(load->statements[ADD_RECORD], &db_records, &row, err) ||
        add_domains(load, id, m, err)) {
        return -1;
    }
    return load->with_events ? add_components(load, id, m, err) : 0;
}

/* Its totals are to be added up. */
static int mark_job(struct db_load *load, const struct apapi_identity *who, struct apapi_error *err)
{
    struct marked *marked = &load->marked[who->job % MARKED];
    struct db_job job = {.job = who->job,
                         .stale = true,
                         .id = APAPI_IDENTITY_UNKNOWN,
                         .energy_j = NAN,
                         .mean_w = NAN};
    const void *const bases[] = {&job};

    if (who->job == APAPI_UNKNOWN ||
        (who->job == marked->job && strcmp(who->cluster, marked->cluster) == 0)) {
        return 0;
    }
    memcpy(job.cluster, who->cluster, sizeof job.cluster);
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        job.domains_j[d] = NAN;
    }
    memcpy(marked->cluster, who->cluster, sizeof marked->cluster);
    marked->job = who->job;
    return db_insert(load->statements[ADD_JOB], &db_jobs, &(struct db_row){.bases = bases}, err);
}

int db_load_add(struct db_load *load, const struct apapi_record *record, const char *line,
                size_t size, struct apapi_error *err)
{
    double known_s = 0, elapsed_s = (double)record->measurement.elapsed_ns / 1e9;
    int64_t id;
    int found;

    if (begin(load, err)) {
        return -1;
    }
    found = find(load, record, &id, &known_s, err);
    if (found > 0 && known_s >= elapsed_s) {
        load->counts.known++;
        return 0;
    }
    if (found < 0 || (found > 0 && forget(load, id, err)) ||
        add_row(load, record, line, size, err) || mark_job(load, &record->id, err)) {
        return -1;
    }
    load->counts.added += found == 0;
    load->counts.replaced += found > 0;
    return ++load->in_batch < BATCH ? 0 : db_load_commit(load, err);
}

/* --- files and jobs ------------------------------------------------------------------------- */

int64_t db_load_offset(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                       struct apapi_error *err)
{
    const struct db_value key[] = {db_text(folder), db_text(file->day), db_text(file->name)};
    struct db_statement *statement = load->statements[FIND_FILE];
    int found = db_first(statement, key, sizeof key / sizeof *key, err);
    int64_t offset = found > 0 ? db_column(statement, 0).integer : found;

    db_end(statement);
    return offset;
}

int db_load_note(struct db_load *load, const char *folder, const struct apapi_scan_file *file,
                 uint64_t offset, struct apapi_error *err)
{
    const struct db_value values[] = {db_text(folder), db_text(file->day), db_text(file->name),
                                      db_integer((int64_t)offset)};

    return begin(load, err)
               ? -1
               : db_run(load->statements[NOTE_FILE], values, sizeof values / sizeof *values, err);
}

int64_t db_load_jobs(struct db_load *load, struct apapi_error *err)
{
    return load_jobs(load->db, load->statements[ADD_JOB], err);
}
