/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a database. SQL only reduces their number. The selection is the same as for files. */
#include "cli/records/database_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/names.h"
#include "database/db_read.h"
#include "database/db_tables.h"
#include "record/files.h"

#define NODES_MAX 64 /* in a query; a longer list is only checked afterwards */

/* The end of "SELECT ... FROM records ", with its parameters. The first one is the day. */
struct query {
    char *sql;
    size_t size, count;
    struct db_value *values;
    FILE *out;
};

struct source {
    const struct report_input *input;
    const struct apapi_scan_filter *wanted;
    struct filter filter;
    struct db *db;
    apapi_scan_f take;
    void *context;
    struct apapi_record record;
};

/* --- the query ------------------------------------------------------------------------------ */

static size_t count_words(const char *list)
{
    size_t count = list != NULL;

    for (; list && *list; list++) {
        count += *list == ',';
    }
    return count;
}

static void database_input_add_value(struct query *query, struct db_value value)
{
    query->values[query->count++] = value;
}

/* "account IN (?, ?)" */
static void add_words(struct query *query, const char *column, const char *list)
{
    fprintf(query->out, "%s IN (", column);
    for (const char *word = list;; word++) {
        size_t size = strcspn(word, ",");

        fputs(word == list ? "?" : ", ?", query->out);
        database_input_add_value(query,
                                 (struct db_value){.type = DB_TEXT, .text = word, .size = size});
        word += size;
        if (*word == '\0') {
            break;
        }
    }
    fputc(')', query->out);
}

/* Names in the list that are numbers may also be uids. */
static void add_users(struct query *query, const char *list)
{
    const char *comma = "";

    add_words(query, " AND (user", list);
    for (const char *word = list; *word; word += *word == ',') {
        size_t size = strcspn(word, ","), digits = strspn(word, "0123456789");

        if (size > 0 && digits == size && size < 11) {
            fprintf(query->out, "%s%.*s", *comma ? ", " : " OR uid IN (", (int)size, word);
            comma = ")";
        }
        word += size;
    }
    fprintf(query->out, "%s)", comma);
}

static void database_input_add_nodes(struct query *query, const struct namelist *nodes)
{
    fputs(" AND node IN (", query->out);
    for (size_t i = 0; i < nodes->count; i++) {
        fputs(i == 0 ? "?" : ", ?", query->out);
        database_input_add_value(query, db_text(nodes->names[i]));
    }
    fputc(')', query->out);
}

static void add_conditions(struct query *query, const struct source *source)
{
    const struct report_input *input = source->input;
    const struct namelist *nodes = &source->filter.nodes;

    fprintf(query->out, "WHERE day = ? AND end_ns >= %lld AND end_ns < %lld",
            (long long)source->filter.from_ns, (long long)source->filter.to_ns);
    database_input_add_value(query, db_text(""));
    if (input->users) {
        add_users(query, input->users);
    }
    if (input->accounts) {
        add_words(query, " AND account", input->accounts);
    }
    if (input->partitions) {
        add_words(query, " AND `partition`", input->partitions);
    }
    if (nodes->count > 0 && nodes->count <= NODES_MAX) {
        database_input_add_nodes(query, nodes);
    }
}

static int make_query(const struct source *source, struct query *query)
{
    const struct report_input *input = source->input;
    size_t words = count_words(input->users) + count_words(input->accounts) +
                   count_words(input->partitions) + NODES_MAX + 1;

    *query = (struct query){.values = calloc(words, sizeof *query->values)};
    query->out = query->values ? open_memstream(&query->sql, &query->size) : NULL;
    if (!query->out) {
        return -1;
    }
    add_conditions(query, source);
    return fclose(query->out) == 0 ? 0 : -1;
}

/* --- reading -------------------------------------------------------------------------------- */

static int database_input_hand_over(struct source *source, struct apapi_error *err)
{
    if (filter_wants(&source->filter, &source->record) &&
        source->take(&source->record, NULL, 0, source->context)) {
        return apapi_fail(err, errno, "%s", "");
    }
    return 0;
}

static int read_rows(struct source *source, struct db_reader *reader, const struct db_value *values,
                     size_t count, struct apapi_error *err)
{
    int got = db_reader_first(reader, values, count, &source->record, err);

    while (got > 0) {
        if (database_input_hand_over(source, err)) {
            db_reader_end(reader);
            return -1;
        }
        got = db_reader_next(reader, &source->record, err);
    }
    return got;
}

/* --- days ----------------------------------------------------------------------------------- */

/* Days on which records ended, in UTC: the index has them. */
static int find_days(const struct source *source, struct namelist *days, struct apapi_error *err)
{
    static const char sql[] = "SELECT DISTINCT day FROM records WHERE day >= ? AND day <= ?";
    char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];
    struct db_statement *statement = db_prepare(source->db, sql, err);
    int got = -1;

    timestamp_day(first, sizeof first, source->filter.from_ns);
    timestamp_day(last, sizeof last, source->filter.to_ns - 1);
    if (statement) {
        const struct db_value range[] = {db_text(first), db_text(last)};

        got = db_first(statement, range, 2, err);
    }
    while (got > 0) {
        const char *day = db_column(statement, 0).text;

        got = namelist_add(days, day ? day : "") ? apapi_fail(err, ENOMEM, "no memory")
                                                 : db_step(statement, err);
    }
    db_finalize(statement);
    return got;
}

static int read_days(struct source *source, const struct namelist *days, struct query *query,
                     const struct db_read_parts *parts, struct apapi_error *err)
{
    struct db_reader *reader = db_reader_create(source->db, query->sql, parts, err);
    int result = reader ? 0 : -1;

    for (size_t i = 0; i < days->count && result == 0; i++) {
        query->values[0] = db_text(days->names[i]);
        result = read_rows(source, reader, query->values, query->count, err);
    }
    db_reader_destroy(reader);
    return result;
}

/* Day by day, so that an import does not have to wait for a long report. */
static int database_input_read_times(struct source *source, const struct db_read_parts *parts,
                                     struct apapi_error *err)
{
    struct query query;
    struct namelist days = {0};
    int result = make_query(source, &query) ? apapi_fail(err, ENOMEM, "no memory")
                                            : find_days(source, &days, err);

    if (result == 0) {
        result = read_days(source, &days, &query, parts, err);
    }
    namelist_free(&days);
    free(query.sql);
    free(query.values);
    return result;
}

/* --- jobs ----------------------------------------------------------------------------------- */

/* Numbers of jobs that may have wanted records. */
struct numbers {
    int64_t *list;
    size_t count, room;
};

static int database_input_add_number(struct numbers *numbers, int64_t number)
{
    if (array_add(&numbers->list, numbers->count, &numbers->room, sizeof *numbers->list)) {
        return -1;
    }
    numbers->list[numbers->count++] = number;
    return 0;
}

static void write_parts(FILE *sql, const char *column, const struct apapi_scan_filter *wanted)
{
    fprintf(sql, "SELECT job FROM jobs WHERE %s IN (", column);
    for (size_t i = 0; i < wanted->job_count; i++) {
        fprintf(sql, "%s%u", i ? ", " : "", wanted->jobs[i]);
    }
    fputs(") UNION ", sql);
}

/* Tasks and components. The table of jobs may not know what jobs without totals are part of. */
static struct db_statement *prepare_parts(const struct source *source, struct apapi_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);

    if (sql) {
        write_parts(sql, "array_job", source->wanted);
        write_parts(sql, "het_job", source->wanted);
        fputs("SELECT job FROM stale_jobs", sql);
    }
    return db_prepare_stream(source->db, sql, &text, err);
}

static int find_numbers(const struct source *source, struct numbers *numbers,
                        struct apapi_error *err)
{
    struct db_statement *parts = prepare_parts(source, err);
    int got = parts ? db_step(parts, err) : -1, failed = 0;

    for (; got > 0 && !failed; got = db_step(parts, err)) {
        failed = database_input_add_number(numbers, db_column(parts, 0).integer);
    }
    db_finalize(parts);
    for (size_t i = 0; i < source->wanted->job_count && got == 0 && !failed; i++) {
        failed = database_input_add_number(numbers, source->wanted->jobs[i]);
    }
    if (numbers->count > 0) {
        qsort(numbers->list, numbers->count, sizeof *numbers->list, compare_int64);
    }
    return failed ? apapi_fail(err, ENOMEM, "no memory") : got;
}

static int database_input_read_jobs(struct source *source, const struct db_read_parts *parts,
                                    struct apapi_error *err)
{
    struct numbers numbers = {NULL, 0, 0};
    struct db_reader *reader = NULL;
    int result = find_numbers(source, &numbers, err);

    if (result == 0) {
        reader = db_reader_create(source->db, "WHERE job = ?", parts, err);
        result = reader ? 0 : -1;
    }
    for (size_t i = 0; i < numbers.count && result == 0; i++) {
        const struct db_value number = db_integer(numbers.list[i]);

        if (i == 0 || numbers.list[i] != numbers.list[i - 1]) {
            result = read_rows(source, reader, &number, 1, err);
        }
    }
    db_reader_destroy(reader);
    free(numbers.list);
    return result;
}

/* --- the whole ------------------------------------------------------------------------------ */

static int database_input_read_all(struct source *source, struct apapi_error *err)
{
    const struct db_read_parts parts = {.regions = source->input->regions,
                                        .shares = source->input->shares,
                                        .timelines = source->input->timelines,
                                        .domains = source->input->powers};

    if (db_tables_check(source->db, err)) {
        return -1;
    }
    return source->wanted->job_count > 0 ? database_input_read_jobs(source, &parts, err)
                                         : database_input_read_times(source, &parts, err);
}

int report_db_read(const struct report_input *input, const struct apapi_scan_filter *filter,
                   apapi_scan_f take, void *context, struct apapi_error *err)
{
    static struct source source;
    int result = -1, code;

    source = (struct source){.input = input, .wanted = filter, .take = take, .context = context};
    if (filter_init(&source.filter, filter, err) == 0 &&
        db_open_existing(input->db, &source.db, err) == 0) {
        result = database_input_read_all(&source, err);
    }
    code = errno;
    db_close(source.db);
    filter_free(&source.filter);
    errno = code;
    return result;
}
