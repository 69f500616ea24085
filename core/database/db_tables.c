/* SPDX-License-Identifier: BSD-3-Clause */
#include "database/db_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_CHANGED 9 /* the version since which totals of jobs and views are as they are */
#define IN_DERIVED(member) offsetof(struct db_derived, member)
#define IN_SHARE(member) offsetof(struct db_share, member)
#define IN_HOUR(member) offsetof(struct hour, member)
#define IN_SUM(member) offsetof(struct hour_sum, member)
#define IN_JOB(member) offsetof(struct db_job, member)
#define DOMAIN_COLUMNS(IN)                                                                         \
    {"package_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_PACKAGE]), 0},                    \
        {"dram_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_DRAM]), 0},                      \
        {"gpu_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_GPU]), 0},                        \
        {"core_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_CORE]), 0},                      \
        {"uncore_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_UNCORE]), 0},                  \
        {"psys_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_PSYS]), 0},                      \
    {                                                                                              \
        "node_j", FIELD_AMOUNT, false, IN(domains_j[APAPI_DOMAIN_NODE]), 0                         \
    }

static const struct field derived_columns[] = {
    {"end", FIELD_MOMENT, true, IN_DERIVED(end_unix_ns), 0},
    {"day", FIELD_TEXT, true, IN_DERIVED(day), 12},
    {"energy_j", FIELD_AMOUNT, false, IN_DERIVED(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_DERIVED(uncertainty_j), 0},
    {"mean_w", FIELD_MEASURED, false, IN_DERIVED(mean_w), 0},
    DOMAIN_COLUMNS(IN_DERIVED),
    {"gaps", FIELD_FLAG, true, IN_DERIVED(gaps), 0},
    {"unknown_domains", FIELD_TEXT, false, IN_DERIVED(unknown_domains), DOMAIN_LIST_SIZE},
    {NULL, 0, false, 0, 0}};

static const struct field job_columns[] = {
    {"cluster", FIELD_TEXT, true, IN_JOB(cluster), 64},
    {"job", FIELD_NUMBER, true, IN_JOB(job), 0},
    {"array_job", FIELD_NUMBER, false, IN_JOB(id.array_job), 0},
    {"array_task", FIELD_NUMBER, false, IN_JOB(id.array_task), 0},
    {"het_job", FIELD_NUMBER, false, IN_JOB(id.het_job), 0},
    {"het_offset", FIELD_NUMBER, false, IN_JOB(id.het_offset), 0},
    {"job_name", FIELD_TEXT, false, IN_JOB(id.job_name), APAPI_TEXT_SIZE},
    {"uid", FIELD_NUMBER, true, IN_JOB(id.uid), 0},
    {"user", FIELD_TEXT, false, IN_JOB(id.user), 64},
    {"account", FIELD_TEXT, false, IN_JOB(id.account), 64},
    {"partition", FIELD_TEXT, false, IN_JOB(id.partition), 64},
    {"qos", FIELD_TEXT, false, IN_JOB(id.qos), 64},
    {"verified", FIELD_FLAG, false, IN_JOB(id.verified), 0},
    {"day", FIELD_TEXT, false, IN_JOB(day), 12},
    {"start", FIELD_MOMENT, false, IN_JOB(start_unix_ns), 0},
    {"end", FIELD_MOMENT, false, IN_JOB(end_unix_ns), 0},
    {"records", FIELD_NUMBER, false, IN_JOB(records), 0},
    {"incomplete", FIELD_NUMBER, false, IN_JOB(incomplete), 0},
    {"steps", FIELD_NUMBER, false, IN_JOB(steps), 0},
    {"nodes", FIELD_NUMBER, false, IN_JOB(nodes), 0},
    {"energy_j", FIELD_AMOUNT, false, IN_JOB(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_JOB(uncertainty_j), 0},
    {"mean_w", FIELD_MEASURED, false, IN_JOB(mean_w), 0},
    {"covered_s", FIELD_DURATION, false, IN_JOB(covered_ns), 0},
    {"elapsed_s", FIELD_DURATION, false, IN_JOB(elapsed_ns), 0},
    {"node_s", FIELD_MEASURED, false, IN_JOB(node_s), 0},
    {"runs", FIELD_NUMBER, false, IN_JOB(runs), 0},
    DOMAIN_COLUMNS(IN_JOB),
    {"missing_domains", FIELD_TEXT, false, IN_JOB(missing_domains), DOMAIN_LIST_SIZE},
    {NULL, 0, false, 0, 0}};

static const struct field share_columns[] = {
    {"method", FIELD_TEXT, false, IN_SHARE(method), APAPI_SHARE_WORD_SIZE},
    {"energy_j", FIELD_AMOUNT, false, IN_SHARE(energy_j), 0},
    {"uncertainty_j", FIELD_ROUGH, false, IN_SHARE(uncertainty_j), 0},
    {NULL, 0, false, 0, 0}};

#define HOUR_COLUMNS(prefix, at)                                                                   \
    {prefix "energy_j", FIELD_AMOUNT, false, (at) + IN_SUM(energy_j), 0},                          \
        {prefix "steps_j", FIELD_AMOUNT, false, (at) + IN_SUM(steps_j), 0},                        \
        {prefix "idle_j", FIELD_AMOUNT, false, (at) + IN_SUM(idle_j), 0},                          \
    {                                                                                              \
        prefix "unattributed_j", FIELD_MEASURED, false, (at) + IN_SUM(unattributed_j), 0           \
    }

static const struct field hour_columns[] = {
    {"cluster", FIELD_TEXT, true, IN_HOUR(cluster), 64},
    {"node", FIELD_TEXT, true, IN_HOUR(node), 256},
    {"start", FIELD_MOMENT, true, IN_HOUR(start_ns), 0},
    {"end", FIELD_MOMENT, true, IN_HOUR(end_ns), 0},
    {"measured_s", FIELD_MEASURED, false, IN_HOUR(measured_s), 0},
    {"idle_w", FIELD_ROUGH, false, IN_HOUR(idle_w), 0},
    {"steps", FIELD_COUNT, false, IN_HOUR(steps), 0},
    {"gaps", FIELD_COUNT, false, IN_HOUR(gap_total), 0},
    {"resets", FIELD_COUNT, false, IN_HOUR(resets), 0},
    HOUR_COLUMNS("", IN_HOUR(total)),
    HOUR_COLUMNS("node_", IN_HOUR(node_meter)),
    {NULL, 0, false, 0, 0}};

static const struct field stale_columns[] = {{"cluster", FIELD_TEXT, true, IN_JOB(cluster), 64},
                                             {"job", FIELD_NUMBER, true, IN_JOB(job), 0},
                                             {NULL, 0, false, 0, 0}};

static const struct field domain_name_column[] = {{"domain", FIELD_DOMAIN, true, 0, 0},
                                                  {NULL, 0, false, 0, 0}};

const struct db_table db_records = {.name = "records",
                                    .keys = {"id"},
                                    .parts = {fields_of_record, fields_of_trust, derived_columns},
                                    .id = true,
                                    .ending = ", UNIQUE (job, cluster, node, start_ns, step)"};
/* separate from the rest, which is read much more often and is a quarter as long */
const struct db_table db_timelines = {
    .name = "timelines", .keys = {"record"}, .text = "timeline", .ending = "", .id = true};
const struct db_table db_regions = {
    .name = "regions", .keys = {"record"}, .text = "regions", .ending = "", .id = true};
const struct db_table db_shares = {.name = "shares",
                                   .keys = {"record"},
                                   .parts = {share_columns},
                                   .text = "share",
                                   .ending = "",
                                   .id = true};
const struct db_table db_hours = {.name = "hours",
                                  .parts = {hour_columns},
                                  .text = "line",
                                  .ending = ", PRIMARY KEY (start_ns, node, cluster, end_ns)",
                                  .ordered = true};
const struct db_table db_domains = {.name = "domains",
                                    .keys = {"record"},
                                    .parts = {domain_name_column, fields_of_domain},
                                    .ending = ", PRIMARY KEY (record, domain)",
                                    .ordered = true};
const struct db_table db_components = {.name = "components",
                                       .keys = {"record", "component"},
                                       .parts = {fields_of_component},
                                       .ending = ", PRIMARY KEY (record, component)",
                                       .ordered = true};
const struct db_table db_events = {.name = "events",
                                   .keys = {"record", "component", "event"},
                                   .parts = {fields_of_event},
                                   .ending = ", PRIMARY KEY (record, component, event)",
                                   .ordered = true};
const struct db_table db_jobs = {
    .name = "jobs", .parts = {job_columns}, .ending = ", PRIMARY KEY (cluster, job, uid)"};
const struct db_table db_stale = {.name = "stale_jobs",
                                  .parts = {stale_columns},
                                  .ending = ", PRIMARY KEY (cluster, job)",
                                  .ordered = true};

/* --- columns -------------------------------------------------------------------------------- */

bool db_is_key(const struct field *field)
{
    return strcmp(field->key, "cluster") == 0 || strcmp(field->key, "job") == 0 ||
           strcmp(field->key, "step") == 0 || field->mandatory;
}

static void write_type(FILE *sql, const struct field *field)
{
    switch (field->form) {
    case FIELD_TEXT:
        fprintf(sql, "VARCHAR(%zu)", field->size - 1);
        break;
    case FIELD_KIND:
    case FIELD_DOMAIN:
    case FIELD_TYPE:
        fputs("VARCHAR(16)", sql);
        break;
    case FIELD_NUMBER:
    case FIELD_COUNT:
    case FIELD_MOMENT:
        fputs("BIGINT", sql);
        break;
    case FIELD_FLAG:
        fputs("SMALLINT", sql);
        break;
    default:
        fputs("DOUBLE", sql);
    }
}

void db_name_write(FILE *sql, const struct field *field)
{
    fprintf(sql, "`%s%s`", field->key, field->form == FIELD_MOMENT ? "_ns" : "");
}

static void write_column(FILE *sql, const struct field *field)
{
    db_name_write(sql, field);
    fputc(' ', sql);
    write_type(sql, field);
    fputs(db_is_key(field) ? " NOT NULL" : "", sql);
}

static char *create_statement(const struct db *db, const struct db_table *table)
{
    const char *comma = "";
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (!sql) {
        return NULL;
    }
    fprintf(sql, "CREATE TABLE IF NOT EXISTS %s (", table->name);
    for (size_t i = 0; i < DB_KEYS && table->keys[i]; i++, comma = ", ") {
        fprintf(sql, "%s%s %s", comma, table->keys[i],
                table->id ? db_dialect(db)->id_type : "BIGINT NOT NULL");
        fputs(table->id ? " PRIMARY KEY" : "", sql);
    }
    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++, comma = ", ") {
            fputs(comma, sql);
            write_column(sql, field);
        }
    }
    fprintf(sql, "%s%s%s%s)%s", table->text ? ", " : "", table->text ? table->text : "",
            table->text ? " MEDIUMTEXT" : "", table->ending,
            table->ordered ? db_dialect(db)->ordered_table_end : db_dialect(db)->table_end);
    return fclose(sql) == 0 ? text : NULL;
}

/* Whether a table has a column; NULL: all its columns. Reads no row. */
static bool has_columns(struct db *db, const struct db_table *table, const struct field *only)
{
    struct db_statement *statement;
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (!sql) {
        return false;
    }
    fputs("SELECT 1", sql);
    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++) {
            if (!only || field == only) {
                fprintf(sql, ", %s.", table->name);
                db_name_write(sql, field);
            }
        }
    }
    fprintf(sql, " FROM %s WHERE 1 = 0", table->name);
    statement = fclose(sql) == 0 ? db_prepare(db, text, NULL) : NULL;
    db_finalize(statement);
    free(text);
    return statement != NULL;
}

/* @return 1; 0: the table has it; -1 with errno */
static int add_column(struct db *db, const struct db_table *table, const struct field *field,
                      struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *sql;
    int result = -1;

    if (has_columns(db, table, field)) {
        return 0;
    }
    sql = open_memstream(&text, &size);
    if (sql) {
        fprintf(sql, "ALTER TABLE %s ADD COLUMN ", table->name);
        write_column(sql, field);
        result = fclose(sql);
    }
    result = result ? apapi_fail(err, ENOMEM, "no memory") : db_exec(db, text, err);
    free(text);
    return result ? -1 : 1;
}

/* --- the schema ----------------------------------------------------------------------------- */

static int create_table(struct db *db, const struct db_table *table, struct apapi_error *err)
{
    char *text = create_statement(db, table);
    int result = text ? db_exec(db, text, err) : apapi_fail(err, ENOMEM, "no memory");

    free(text);
    return result;
}

static int create_files(struct db *db, struct apapi_error *err)
{
    char text[512];

    snprintf(text, sizeof text,
             "CREATE TABLE IF NOT EXISTS files (folder VARCHAR(%d) NOT NULL, day VARCHAR(11) NOT "
             "NULL, file VARCHAR(255) NOT NULL, bytes BIGINT NOT NULL, PRIMARY KEY (folder, day, "
             "file))%s",
             DB_FOLDER_SIZE, db_dialect(db)->table_end);
    return db_exec(db, text, err);
}

static const char *const indexes[] = {
    "CREATE INDEX IF NOT EXISTS records_day ON records (day, cluster, user)",
    "CREATE INDEX IF NOT EXISTS records_user ON records (user, day)",
    "CREATE INDEX IF NOT EXISTS records_node ON records (node, day)",
    "CREATE INDEX IF NOT EXISTS records_account ON records (account, day)",
    "CREATE INDEX IF NOT EXISTS jobs_array ON jobs (array_job)",
    "CREATE INDEX IF NOT EXISTS jobs_het ON jobs (het_job)",
    "CREATE INDEX IF NOT EXISTS jobs_day ON jobs (day, cluster)",
    "CREATE INDEX IF NOT EXISTS jobs_user ON jobs (user, day)",
    "CREATE INDEX IF NOT EXISTS jobs_account ON jobs (account, day)"};

/* A job with changed records has no valid total. */
#define RIGHT                                                                                      \
    "WHERE NOT EXISTS (SELECT 1 FROM stale_jobs s WHERE s.cluster = j.cluster AND s.job = j.job)"

static const char *const views[] = {
    "CREATE VIEW IF NOT EXISTS apapi_jobs AS SELECT cluster, job, array_job, array_task, het_job, "
    "het_offset, job_name, uid, user, account, `partition`, qos, verified, day, "
    "start_ns / 1e9 AS start_s, end_ns / 1e9 AS end_s, elapsed_s, runs, "
    "records, incomplete, steps, nodes, energy_j, energy_j / 3.6e6 AS energy_kwh, "
    "uncertainty_j, mean_w, covered_s, covered_s / node_s AS measured, package_j, dram_j, gpu_j, "
    "core_j, uncore_j, psys_j, node_j, "
    "missing_domains FROM jobs j " RIGHT,
    "CREATE VIEW IF NOT EXISTS apapi_days AS SELECT day, cluster, user, account, `partition`, "
    "COUNT(*) AS jobs, COUNT(energy_j) AS measured_jobs, SUM(records) AS records, "
    "SUM(incomplete) AS incomplete, SUM(energy_j) AS energy_j, SUM(energy_j) / 3.6e6 AS "
    "energy_kwh, CASE WHEN COUNT(uncertainty_j) = COUNT(energy_j) THEN SUM(uncertainty_j) END AS "
    "uncertainty_j, SUM(covered_s) AS covered_s FROM jobs j " RIGHT
    " GROUP BY day, cluster, user, account, `partition`"};

static int run_all(struct db *db, const char *const *statements, size_t count,
                   struct apapi_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (db_exec(db, statements[i], err)) {
            return -1;
        }
    }
    return 0;
}

static int make_indexes(struct db *db, struct apapi_error *err)
{
    return run_all(db, indexes, sizeof indexes / sizeof(char *), err);
}

int db_tables_finish(struct db *db, struct apapi_error *err)
{
    if (!db_dialect(db)->indexes_later) {
        return 0;
    }
    return db_begin(db, err) || make_indexes(db, err) || db_commit(db, err) ? -1 : 0;
}

static const struct db_table *const tables[] = {
    &db_records,    &db_timelines, &db_regions, &db_shares, &db_domains,
    &db_components, &db_events,    &db_jobs,    &db_stale,  &db_hours};

#define TABLES (sizeof tables / sizeof(struct db_table *))

static int create_tables(struct db *db, struct apapi_error *err)
{
    for (size_t i = 0; i < TABLES; i++) {
        if (create_table(db, tables[i], err)) {
            return -1;
        }
    }
    return 0;
}

static int create_all(struct db *db, struct apapi_error *err)
{
    char version[64];

    if (create_tables(db, err) || create_files(db, err)) {
        return -1;
    }
    if (run_all(db, views, sizeof views / sizeof(char *), err) ||
        (!db_dialect(db)->indexes_later && make_indexes(db, err))) {
        return -1;
    }
    snprintf(version, sizeof version, "INSERT INTO apapi_schema VALUES (%d)", DB_VERSION);
    return db_exec(db, version, err);
}

/* @return the version; 0: no tables; -1 with errno */
static int64_t read_version(struct db *db, struct apapi_error *err)
{
    struct db_statement *statement;
    int64_t version = -1;
    int got = db_has_table(db, "apapi_schema", err);

    if (got <= 0) {
        return got;
    }
    statement = db_prepare(db, "SELECT version FROM apapi_schema ORDER BY version DESC", err);
    got = statement ? db_step(statement, err) : -1;
    if (got >= 0) {
        version = got ? db_column(statement, 0).integer : 0;
    }
    db_finalize(statement);
    return version;
}

static int refuse_version(int64_t version, struct apapi_error *err)
{
    const char *remedy = version > DB_VERSION    ? ""
                         : version < DB_UPGRADED ? ": import into a new one"
                                                 : ": apapi import brings it up to date";

    return apapi_fail(err, ENOTSUP, "the database is of version %lld, this apapi knows %d%s",
                      (long long)version, DB_VERSION, remedy);
}

/* Databases of one version did not always have the same columns. */
static bool has_all_columns(struct db *db)
{
    size_t whole = 0;

    while (whole < TABLES && has_columns(db, tables[whole], NULL)) {
        whole++;
    }
    return whole == TABLES;
}

/* What they say of older records is not known. @return how many; -1 with errno */
static int add_columns(struct db *db, const struct db_table *table, struct apapi_error *err)
{
    int added = 0;

    for (size_t i = 0; i < DB_PARTS && table->parts[i]; i++) {
        for (const struct field *field = table->parts[i]; field->key; field++) {
            int result = add_column(db, table, field, err);

            if (result < 0) {
                return -1;
            }
            added += result;
        }
    }
    return added;
}

/* Records have always known their uncertainty: add all jobs up again. */
static int db_tables_renew_jobs(struct db *db, struct apapi_error *err)
{
    static const char *const renewals[] = {
        "DROP VIEW IF EXISTS apapi_jobs", "DROP VIEW IF EXISTS apapi_days",
        "DELETE FROM stale_jobs",
        "INSERT INTO stale_jobs (cluster, job) SELECT DISTINCT cluster, job FROM records"};

    return run_all(db, renewals, sizeof renewals / sizeof(char *), err) ||
                   run_all(db, views, sizeof views / sizeof(char *), err)
               ? -1
               : 0;
}

/* Their key is another one. */
static int drop_jobs(struct db *db, struct apapi_error *err)
{
    static const char *const removals[] = {"DROP VIEW IF EXISTS apapi_jobs",
                                           "DROP VIEW IF EXISTS apapi_days",
                                           "DROP TABLE IF EXISTS jobs"};

    return run_all(db, removals, sizeof removals / sizeof(char *), err);
}

static int db_tables_complete(struct db *db, int64_t version, struct apapi_error *err)
{
    char text[64];
    int added = version < JOBS_CHANGED && drop_jobs(db, err) ? -1 : create_tables(db, err);

    for (size_t i = 0; i < TABLES && added >= 0; i++) {
        int more = add_columns(db, tables[i], err);

        added = more < 0 ? -1 : added + more;
    }
    if (added < 0 || ((added > 0 || version < JOBS_CHANGED) && db_tables_renew_jobs(db, err))) {
        return -1;
    }
    snprintf(text, sizeof text, "INSERT INTO apapi_schema VALUES (%d)", DB_VERSION);
    return version < DB_VERSION ? db_exec(db, text, err) : 0;
}

/* Another import may have done it meanwhile. */
static int db_tables_upgrade(struct db *db, struct apapi_error *err)
{
    int64_t version = db_begin(db, err) ? -1 : read_version(db, err);

    return version < 0 || db_tables_complete(db, version, err) ? -1 : db_commit(db, err);
}

int db_tables_check(struct db *db, struct apapi_error *err)
{
    int64_t version = read_version(db, err);

    if (version == 0) {
        return apapi_fail(err, ENOENT, "no records were imported into this database");
    }
    if (version > 0 && version != DB_VERSION) {
        return refuse_version(version, err);
    }
    return version < 0 ? -1 : 0;
}

/* A user who may only add rows needs no right to create tables if they exist. */
int db_tables_create(struct db *db, struct apapi_error *err)
{
    int64_t version = read_version(db, err);
    char text[256];

    if (version < 0 || (version == DB_VERSION && has_all_columns(db))) {
        return version < 0 ? -1 : 0;
    }
    if (version > DB_VERSION || (version > 0 && version < DB_UPGRADED)) {
        return refuse_version(version, err);
    }
    if (version > 0) {
        return db_tables_upgrade(db, err);
    }
    snprintf(text, sizeof text,
             "CREATE TABLE IF NOT EXISTS apapi_schema (version BIGINT PRIMARY KEY)%s",
             db_dialect(db)->table_end);
    return db_exec(db, text, err) || db_begin(db, err) || create_all(db, err) || db_commit(db, err)
               ? -1
               : 0;
}
