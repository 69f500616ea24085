/* SPDX-License-Identifier: BSD-3-Clause */
#include "index/tables.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "record/fields.h"

/* Names of members cannot be in parentheses. NOLINTBEGIN(bugprone-macro-parentheses) */
#define DB_DOMAINS_OF(tag, list, member)                                                           \
    FIELD_OF(tag, "package_j", REAL, false, list[APAPI_DOMAIN_PACKAGE] member),                    \
        FIELD_OF(tag, "dram_j", REAL, false, list[APAPI_DOMAIN_DRAM] member),                      \
        FIELD_OF(tag, "gpu_j", REAL, false, list[APAPI_DOMAIN_GPU] member),                        \
        FIELD_OF(tag, "core_j", REAL, false, list[APAPI_DOMAIN_CORE] member),                      \
        FIELD_OF(tag, "uncore_j", REAL, false, list[APAPI_DOMAIN_UNCORE] member),                  \
        FIELD_OF(tag, "psys_j", REAL, false, list[APAPI_DOMAIN_PSYS] member),                      \
        FIELD_OF(tag, "node_j", REAL, false, list[APAPI_DOMAIN_NODE] member)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct field record_fields[] = {
    FIELD_OF(db_record, "id", MOMENT, true, id),
    FIELD_TEXT_OF(db_record, "cluster", true, who.cluster),
    FIELD_OF(db_record, "job", NUMBER, true, who.job),
    FIELD_TEXT_OF(db_record, "step", true, who.step),
    FIELD_TEXT_OF(db_record, "node", true, who.node),
    FIELD_OF(db_record, "start_ns", MOMENT, true, start_ns),
    FIELD_OF(db_record, "end_ns", MOMENT, true, end_ns),
    FIELD_TEXT_OF(db_record, "day", true, day),
    FIELD_OF(db_record, "elapsed_s", REAL, false, elapsed_s),
    FIELD_OF(db_record, "complete", FLAG, true, complete),
    FIELD_OF(db_record, "array_job", NUMBER, false, who.array_job),
    FIELD_OF(db_record, "array_task", NUMBER, false, who.array_task),
    FIELD_OF(db_record, "het_job", NUMBER, false, who.het_job),
    FIELD_OF(db_record, "het_offset", NUMBER, false, who.het_offset),
    FIELD_TEXT_OF(db_record, "job_name", false, who.job_name),
    FIELD_OF(db_record, "uid", NUMBER, false, who.uid),
    FIELD_TEXT_OF(db_record, "user", false, who.user),
    FIELD_TEXT_OF(db_record, "account", false, who.account),
    FIELD_TEXT_OF(db_record, "partition", false, who.partition),
    FIELD_TEXT_OF(db_record, "qos", false, who.qos),
    FIELD_OF(db_record, "nodes", NUMBER, false, who.nodes),
    FIELD_OF(db_record, "energy_j", REAL, false, energy_j),
    FIELD_OF(db_record, "uncertainty_j", REAL, false, uncertainty_j),
    FIELD_OF(db_record, "mean_w", REAL, false, mean_w),
    DB_DOMAINS_OF(db_record, domains_j, ),
    FIELD_OF(db_record, "line", LINE, true, line),
    FIELD_END};

static const struct field job_fields[] = {
    FIELD_TEXT_OF(db_job, "cluster", true, who.cluster),
    FIELD_OF(db_job, "job", NUMBER, false, who.job),
    FIELD_OF(db_job, "uid", NUMBER, false, uid),
    FIELD_OF(db_job, "array_job", NUMBER, false, who.array_job),
    FIELD_OF(db_job, "array_task", NUMBER, false, who.array_task),
    FIELD_OF(db_job, "het_job", NUMBER, false, who.het_job),
    FIELD_OF(db_job, "het_offset", NUMBER, false, who.het_offset),
    FIELD_TEXT_OF(db_job, "job_name", false, who.job_name),
    FIELD_TEXT_OF(db_job, "user", false, who.user),
    FIELD_TEXT_OF(db_job, "account", false, who.account),
    FIELD_TEXT_OF(db_job, "partition", false, who.partition),
    FIELD_TEXT_OF(db_job, "qos", false, who.qos),
    FIELD_OF(db_job, "verified", FLAG, true, who.verified),
    FIELD_TEXT_OF(db_job, "day", true, day),
    FIELD_OF(db_job, "start_ns", MOMENT, true, total.start_unix_ns),
    FIELD_OF(db_job, "end_ns", MOMENT, true, total.end_unix_ns),
    FIELD_OF(db_job, "records", COUNT, false, total.records),
    FIELD_OF(db_job, "incomplete", COUNT, false, total.incomplete),
    FIELD_OF(db_job, "steps", COUNT, false, total.steps),
    FIELD_OF(db_job, "nodes", COUNT, false, total.nodes),
    FIELD_OF(db_job, "runs", COUNT, false, total.runs),
    FIELD_OF(db_job, "energy_j", REAL, false, total.energy_j),
    FIELD_OF(db_job, "uncertainty_j", REAL, false, total.uncertainty_j),
    FIELD_OF(db_job, "mean_w", REAL, false, total.mean_w),
    FIELD_OF(db_job, "covered_s", DURATION, false, total.covered_ns),
    FIELD_OF(db_job, "elapsed_s", DURATION, false, total.elapsed_ns),
    FIELD_OF(db_job, "node_s", REAL, false, total.node_s),
    DB_DOMAINS_OF(db_job, total.domains, .energy_j),
    FIELD_TEXT_OF(db_job, "missing_domains", false, missing_domains),
    FIELD_END};

static const struct field hour_fields[] = {
    FIELD_TEXT_OF(db_hour, "cluster", true, hour.cluster),
    FIELD_TEXT_OF(db_hour, "node", true, hour.node),
    FIELD_OF(db_hour, "start_ns", MOMENT, true, hour.start_ns),
    FIELD_OF(db_hour, "end_ns", MOMENT, true, hour.end_ns),
    FIELD_OF(db_hour, "line", LINE, true, line),
    FIELD_END};

/* The columns of tables whose rows are no structures. */
#define COLUMN(name, type, bytes)                                                                  \
    {                                                                                              \
        .key = (name), .form = (type), .mandatory = true, .size = (bytes)                          \
    }
static const struct field stale_fields[] = {COLUMN("cluster", FIELD_TEXT, 64),
                                            COLUMN("job", FIELD_MOMENT, 0), FIELD_END};
static const struct field file_fields[] = {
    COLUMN("folder", FIELD_TEXT, DB_FOLDER_SIZE + 1), COLUMN("day", FIELD_TEXT, 12),
    COLUMN("file", FIELD_TEXT, DB_FILE_SIZE), COLUMN("bytes", FIELD_MOMENT, 0), FIELD_END};
static const struct field schema_fields[] = {COLUMN("version", FIELD_MOMENT, 0), FIELD_END};

const struct db_table db_records = {
    "records", record_fields, ", PRIMARY KEY (id), UNIQUE (job, cluster, node, start_ns, step)"};
const struct db_table db_twins = {
    "twins", record_fields, ", PRIMARY KEY (id), UNIQUE (job, cluster, node, start_ns, step, id)"};
const struct db_table db_jobs = {"jobs", job_fields, ", PRIMARY KEY (cluster, job, uid)"};
const struct db_table db_hours = {"hours", hour_fields,
                                  ", PRIMARY KEY (start_ns, node, cluster, end_ns)"};

static const struct db_table stale_jobs = {"stale_jobs", stale_fields,
                                           ", PRIMARY KEY (cluster, job)"};
static const struct db_table files = {"files", file_fields,
                                      ", PRIMARY KEY (folder, \"day\", file)"};
static const struct db_table schema = {"apapi_schema", schema_fields, ", PRIMARY KEY (version)"};

/* --- rows ----------------------------------------------------------------------------------- */

static struct db_value value_of(const struct field *field, const void *base)
{
    const char *at = (const char *)base + field->offset;
    struct db_line line;
    uint32_t number;
    uint64_t count;
    double real;

    switch (field->form) {
    case FIELD_TEXT:
        return db_text(*at || field->mandatory ? at : NULL);
    case FIELD_NUMBER:
        memcpy(&number, at, sizeof number);
        return number != APAPI_UNKNOWN ? db_integer(number)
               : field->mandatory      ? db_integer(-1)
                                       : db_text(NULL);
    case FIELD_FLAG:
        return db_integer(*(const bool *)at);
    case FIELD_LINE:
        memcpy(&line, at, sizeof line);
        return db_bytes(line.text, line.size);
    case FIELD_REAL:
        memcpy(&real, at, sizeof real);
        /* PostgreSQL's views fail if a division makes it 0 */
        return db_real(fabs(real) < DBL_MIN ? 0 : real);
    default:
        memcpy(&count, at, sizeof count);
        return field->form == FIELD_DURATION ? db_real((double)count / NS_PER_S)
                                             : db_integer((int64_t)count);
    }
}

size_t db_row(const struct db_table *table, const void *base, struct db_value values[])
{
    size_t count = 0;

    for (; table->fields[count].key; count++) {
        values[count] = value_of(&table->fields[count], base);
    }
    return count;
}

/* --- CREATE and INSERT ---------------------------------------------------------------------- */

void db_insert_write(FILE *sql, const struct db_table *table, size_t rows)
{
    fprintf(sql, "INSERT INTO %s (", table->name);
    for (const struct field *field = table->fields; field->key; field++) {
        fprintf(sql, "%s\"%s\"", field == table->fields ? "" : ", ", field->key);
    }
    fputs(") VALUES ", sql);
    for (size_t row = 0; row < rows; row++) {
        fputs(row ? ", (?" : "(?", sql);
        for (const struct field *field = table->fields + 1; field->key; field++) {
            fputs(", ?", sql);
        }
        fputc(')', sql);
    }
}

static void write_type(FILE *sql, const struct field *field, const struct db_dialect *dialect)
{
    switch (field->form) {
    case FIELD_TEXT:
        fprintf(sql, "VARCHAR(%zu)%s", field->size - 1, dialect->text_end);
        break;
    case FIELD_FLAG:
        fputs("SMALLINT", sql);
        break;
    case FIELD_REAL:
    case FIELD_DURATION:
        fputs("DOUBLE PRECISION", sql);
        break;
    case FIELD_LINE:
        fputs(dialect->line_type, sql);
        break;
    default:
        fputs(strcmp(field->key, "id") == 0 ? dialect->id_type : "BIGINT", sql);
    }
    fputs(field->mandatory ? " NOT NULL" : "", sql);
}

static int create_table(struct db *db, const struct db_table *table, struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        fprintf(sql, "CREATE TABLE IF NOT EXISTS %s (", table->name);
        for (const struct field *field = table->fields; field->key; field++) {
            fprintf(sql, "%s\"%s\" ", field == table->fields ? "" : ", ", field->key);
            write_type(sql, field, db_dialect(db));
        }
        fprintf(sql, "%s)%s", table->ending, db_dialect(db)->table_end);
    }
    return db_exec_stream(db, sql, &text, err);
}

static const char *const indexes[] = {
    "CREATE INDEX IF NOT EXISTS records_by_day ON records (\"day\", node, id)",
    "CREATE INDEX IF NOT EXISTS records_by_user ON records (\"user\", \"day\")",
    "CREATE INDEX IF NOT EXISTS records_by_node ON records (node, \"day\")",
    "CREATE INDEX IF NOT EXISTS records_by_account ON records (account, \"day\")",
    "CREATE INDEX IF NOT EXISTS records_by_array ON records (array_job)",
    "CREATE INDEX IF NOT EXISTS records_by_het ON records (het_job)",
    "CREATE INDEX IF NOT EXISTS jobs_by_day ON jobs (\"day\", cluster)",
    "CREATE INDEX IF NOT EXISTS jobs_by_user ON jobs (\"user\", \"day\")",
    "CREATE INDEX IF NOT EXISTS jobs_by_account ON jobs (account, \"day\")"};

/* --- views ---------------------------------------------------------------------------------- */

/* Write the SQL of a value in a document. */
static void write_json(FILE *sql, const struct db_dialect *dialect, enum db_json form,
                       const char *document, const char *path)
{
    const char *const *around = dialect->json[form];

    fprintf(sql, "%s%s%s%s%s", around[0], document, around[1], path, around[2]);
}

/* Write a member as a column. A value that a record lacks is the default of the JSON schema. */
static void write_member(FILE *sql, const struct db_dialect *dialect, const struct field *field,
                         const char *prefix, const char *document)
{
    static const struct {
        enum db_json form;
        const char *unwritten;
    } forms[FIELD_SET + 1] = {
        [FIELD_COUNT] = {DB_JSON_INTEGER, "0"},    [FIELD_FLAG] = {DB_JSON_FLAG, "0"},
        [FIELD_NUMBER] = {DB_JSON_INTEGER, NULL},  [FIELD_KIND] = {DB_JSON_TEXT, "'energy'"},
        [FIELD_TYPE] = {DB_JSON_TEXT, "'uint64'"}, [FIELD_TEXT] = {DB_JSON_TEXT, NULL},
        [FIELD_MOMENT] = {DB_JSON_TEXT, NULL},     [FIELD_DOMAIN] = {DB_JSON_TEXT, NULL},
        [FIELD_SET] = {DB_JSON_ANY, NULL}};
    const char *unwritten = forms[field->form].unwritten;
    char path[64];

    snprintf(path, sizeof path, "%s%s", prefix, field->key);
    fputs(unwritten ? "COALESCE(" : "", sql);
    write_json(sql, dialect, forms[field->form].form, document, path);
    fprintf(sql, "%s%s%s AS \"%s\"", unwritten ? ", " : "", unwritten ? unwritten : "",
            unwritten ? ")" : "", field->key);
}

static bool has_column(const struct db_table *table, const char *name)
{
    for (const struct field *field = table ? table->fields : NULL; field && field->key; field++) {
        if (strcmp(field->key, name) == 0) {
            return true;
        }
    }
    return strcmp(name, "start") == 0; /* start_ns */
}

static void write_members(FILE *sql, const struct db_dialect *dialect, const struct field *fields,
                          const char *prefix, const char *document)
{
    for (const struct field *field = fields; field && field->key; field++) {
        if (!has_column(fields == fields_of_record || fields == fields_of_trust ? &db_records
                                                                                : NULL,
                        field->key)) {
            fputs(", ", sql);
            write_member(sql, dialect, field, prefix, document);
        }
    }
}

/* A column of a view that is not a member of a list of fields. */
struct view_column {
    const char *name, *path;
    enum db_json form;
};

static const struct view_column timeline_columns[] = {{"timeline", "timeline", DB_JSON_ANY}, {0}};
static const struct view_column region_columns[] = {{"regions", "regions", DB_JSON_ANY},
                                                    {"foms", "foms", DB_JSON_ANY},
                                                    {"regions_lost", "regions_lost", DB_JSON_ANY},
                                                    {0}};
static const struct view_column share_columns[] = {
    {"method", "share.method", DB_JSON_TEXT},
    {"energy_j", "share.total.energy_j", DB_JSON_REAL},
    {"uncertainty_j", "share.total.uncertainty_j", DB_JSON_REAL},
    {"share", "share", DB_JSON_ANY},
    {0}};
static const struct view_column hour_columns[] = {
    {"measured_s", "measured_s", DB_JSON_REAL},
    {"idle_w", "idle_w", DB_JSON_REAL},
    {"steps", "steps", DB_JSON_INTEGER},
    {"gaps", "gaps_total", DB_JSON_INTEGER},
    {"resets", "resets", DB_JSON_INTEGER},
    {"energy_j", "total.energy_j", DB_JSON_REAL},
    {"steps_j", "total.steps_j", DB_JSON_REAL},
    {"idle_j", "total.idle_j", DB_JSON_REAL},
    {"unattributed_j", "total.unattributed_j", DB_JSON_REAL},
    {"node_energy_j", "node_meter.energy_j", DB_JSON_REAL},
    {"node_steps_j", "node_meter.steps_j", DB_JSON_REAL},
    {"node_idle_j", "node_meter.idle_j", DB_JSON_REAL},
    {"node_unattributed_j", "node_meter.unattributed_j", DB_JSON_REAL},
    {0}};

struct view {
    const char *name;
    const struct db_each *each;
    const char *columns;            /* in SQL; the keys of `each` follow them */
    const struct field *fields;     /* NULL: none */
    const struct view_column *more; /* NULL: none */
    const char *only;               /* rows whose document has this member; NULL: all */
};

static int create_view(struct db *db, const struct view *view, struct apapi_error *err)
{
    const struct db_dialect *dialect = db_dialect(db);
    const struct db_each *each = view->each;
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        fprintf(sql, "%s%s%sSELECT %s%s", dialect->view[0], view->name, dialect->view[1],
                view->columns, each->keys ? each->keys : "");
        write_members(sql, dialect, view->fields, "", each->document);
        if (view->fields == fields_of_record) {
            write_members(sql, dialect, fields_of_trust, "trust.", each->document);
        }
        for (const struct view_column *column = view->more; column && column->name; column++) {
            bool count = column->form == DB_JSON_INTEGER; /* unwritten if 0 */

            fputs(count ? ", COALESCE(" : ", ", sql);
            write_json(sql, dialect, column->form, each->document, column->path);
            fprintf(sql, "%s AS \"%s\"", count ? ", 0)" : "", column->name);
        }
        fprintf(sql, " FROM %s", each->from);
        if (view->only) {
            fputs(" WHERE ", sql);
            write_json(sql, dialect, DB_JSON_ANY, each->document, view->only);
            fputs(" IS NOT NULL", sql);
        }
    }
    return db_exec_stream(db, sql, &text, err);
}

/* Only jobs with a valid total: a job whose records have changed has none. */
#define RIGHT                                                                                      \
    "WHERE NOT EXISTS (SELECT 1 FROM stale_jobs s WHERE s.cluster = j.cluster AND s.job = j.job)"

static const char *const job_views[][2] = {
    {"apapi_jobs",
     "SELECT cluster, job, array_job, array_task, het_job, het_offset, job_name, uid, \"user\", "
     "account, \"partition\", qos, verified, \"day\", start_ns / 1e9 AS start_s, end_ns / 1e9 AS "
     "end_s, elapsed_s, runs, records, incomplete, steps, nodes, energy_j, energy_j / 3.6e6 AS "
     "energy_kwh, uncertainty_j, mean_w, covered_s, covered_s / node_s AS measured, package_j, "
     "dram_j, gpu_j, core_j, uncore_j, psys_j, node_j, missing_domains FROM jobs j " RIGHT},
    {"apapi_days",
     "SELECT \"day\", cluster, \"user\", account, \"partition\", COUNT(*) AS jobs, COUNT(energy_j) "
     "AS measured_jobs, SUM(records) AS records, SUM(incomplete) AS incomplete, SUM(energy_j) AS "
     "energy_j, SUM(energy_j) / 3.6e6 AS energy_kwh, CASE WHEN COUNT(uncertainty_j) = "
     "COUNT(energy_j) THEN SUM(uncertainty_j) END AS uncertainty_j, SUM(covered_s) AS covered_s "
     "FROM jobs j " RIGHT " GROUP BY \"day\", cluster, \"user\", account, \"partition\""}};

#define OF_RECORD "r.id AS record"

static int create_views(struct db *db, struct apapi_error *err)
{
    const struct db_dialect *dialect = db_dialect(db);
    const struct view views[] = {
        {"domains", &dialect->domains, OF_RECORD ", ", fields_of_domain, NULL, NULL},
        {"components", &dialect->components, OF_RECORD ", ", fields_of_component, NULL, NULL},
        {"events", &dialect->events, OF_RECORD ", ", fields_of_event, NULL, NULL},
        {"timelines", &dialect->line, OF_RECORD, NULL, timeline_columns, "timeline"},
        {"regions", &dialect->line, OF_RECORD, NULL, region_columns, "regions"},
        {"shares", &dialect->line, OF_RECORD, NULL, share_columns, "share"},
        {"apapi_records", &dialect->line,
         "r.id, r.cluster, r.job, r.step, r.node, r.start_ns, r.end_ns, r.\"day\", r.elapsed_s, "
         "r.complete, r.array_job, r.array_task, r.het_job, r.het_offset, r.job_name, r.uid, "
         "r.\"user\", r.account, r.\"partition\", r.qos, r.nodes, r.energy_j, r.uncertainty_j, "
         "r.mean_w, r.package_j, r.dram_j, r.gpu_j, r.core_j, r.uncore_j, r.psys_j, r.node_j",
         fields_of_record, NULL, NULL},
        {"apapi_hours", &dialect->hour, "r.cluster, r.node, r.start_ns, r.end_ns", NULL,
         hour_columns, NULL}};

    for (size_t i = 0; i < COUNT_OF(job_views); i++) {
        char text[2048];

        snprintf(text, sizeof text, "%s%s%s%s", dialect->view[0], job_views[i][0], dialect->view[1],
                 job_views[i][1]);
        if (db_exec(db, text, err)) {
            return -1;
        }
    }
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        if (create_view(db, &views[i], err)) {
            return -1;
        }
    }
    return 0;
}

/* --- the schema ----------------------------------------------------------------------------- */

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
    got = statement ? db_first(statement, NULL, 0, err) : -1;
    if (got >= 0) {
        version = got ? db_column(statement, 0).integer : 0;
        db_end(statement);
    }
    db_finalize(statement);
    return version;
}

static int refuse_version(int64_t version, struct apapi_error *err)
{
    return apapi_fail(err, ENOTSUP, "the database is of version %lld, this apapi knows %d%s",
                      (long long)version, DB_VERSION,
                      version > DB_VERSION ? "" : ": import the records into a new one");
}

static int create_all(struct db *db, struct apapi_error *err)
{
    static const struct db_table *const tables[] = {&db_records, &db_twins, &db_jobs, &db_hours,
                                                    &stale_jobs, &files,    &schema};
    char version[64];

    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        if (create_table(db, tables[i], err)) {
            return -1;
        }
    }
    for (size_t i = 0; i < COUNT_OF(indexes); i++) {
        if (db_exec(db, indexes[i], err)) {
            return -1;
        }
    }
    if (create_views(db, err)) {
        return -1;
    }
    snprintf(version, sizeof version, "INSERT INTO apapi_schema VALUES (%d)", DB_VERSION);
    return db_exec(db, version, err);
}

/* Another import may have created the tables meanwhile. A user who may only add rows needs no right
 * to create tables that exist. */
int db_tables_create(struct db *db, struct apapi_error *err)
{
    int64_t version = read_version(db, err);

    if (version < 0 || version == DB_VERSION) {
        return version < 0 ? -1 : 0;
    }
    if (version > 0) {
        return refuse_version(version, err);
    }
    if (db_begin(db, err) || (version = read_version(db, err)) < 0 ||
        (version == 0 && create_all(db, err))) {
        return -1;
    }
    return db_exec(db, "COMMIT", err);
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
