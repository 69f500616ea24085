/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lines of a database. SQL only reduces their number: the filter of files selects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "index/tables.h"
#include "record/files.h"
#include "record/record.h"

#define NAMES_MAX 64 /* names in a list of a query; a longer list is checked after reading only */

/* "SELECT line FROM records WHERE ...", with its parameters. */
struct query {
    struct db_value values[1 + 5 * NAMES_MAX];
    size_t count;
    FILE *out;
};

struct selection {
    const struct apapi_scan_sink *sink;
    const char *url;
    struct filter filter;
    struct db *db;
};

/* --- the query ------------------------------------------------------------------------------ */

static bool is_short(const char *list)
{
    size_t count = 1;

    for (; list && *list; list++) {
        count += *list == ',';
    }
    return list && count <= NAMES_MAX;
}

/* "account IN (?, ?)" */
static void add_words(struct query *query, const char *column, const char *list)
{
    const char *before = " IN (", *rest = list, *word;

    fputs(column, query->out);
    while (rest) {
        size_t size = text_name(&rest, &word);

        fprintf(query->out, "%s?", before);
        query->values[query->count++] =
            (struct db_value){.type = DB_TEXT, .text = word, .size = size};
        before = ", ";
    }
    fputc(')', query->out);
}

/* Users that are numbers may also be uids. */
static void add_uids(struct query *query, const char *list)
{
    const char *before = " OR uid IN (", *rest = list, *word;

    while (rest) {
        size_t size = text_name(&rest, &word), digits = strspn(word, "0123456789");

        if (size > 0 && digits == size && size < 11) {
            fprintf(query->out, "%s%.*s", before, (int)size, word);
            before = ", ";
        }
    }
    fputs(*before == ',' ? ")" : "", query->out);
}

static void add_nodes(struct query *query, const struct namelist *nodes)
{
    fputs(" AND node IN (", query->out);
    for (size_t i = 0; i < nodes->count; i++) {
        fputs(i == 0 ? "?" : ", ?", query->out);
        query->values[query->count++] = db_text(nodes->names[i]);
    }
    fputc(')', query->out);
}

/* Select jobs or, with job_parts, also tasks of arrays and components of heterogeneous jobs. */
static void add_jobs(struct query *query, const struct filter *filter)
{
    static const char *const columns[] = {"job", "array_job", "het_job"};

    for (size_t i = 0; i < (filter->job_parts ? COUNT_OF(columns) : 1); i++) {
        fprintf(query->out, "%s%s IN (", i ? " OR " : "(", columns[i]);
        for (size_t job = 0; job < filter->job_count; job++) {
            fprintf(query->out, "%s%u", job ? ", " : "", filter->jobs[job]);
        }
        fputc(')', query->out);
    }
    fputc(')', query->out);
}

static void write_query(struct query *query, const struct selection *selection, const char *table)
{
    static const char *const columns[FILTER_TEXTS] = {[FILTER_CLUSTER] = "cluster",
                                                      [FILTER_USER] = "\"user\"",
                                                      [FILTER_ACCOUNT] = "account",
                                                      [FILTER_PARTITION] = "\"partition\""};
    const struct filter *filter = &selection->filter;

    fprintf(query->out, "SELECT line FROM %s WHERE ", table);
    if (filter->job_count > 0) {
        add_jobs(query, filter);
    } else {
        fputs("\"day\" = ?", query->out);
        query->values[query->count++] = db_text("");
    }
    fprintf(query->out, " AND end_ns >= %lld AND end_ns < %lld", (long long)filter->from_ns,
            (long long)filter->to_ns);
    for (size_t i = 0; i < FILTER_TEXTS; i++) {
        if (is_short(filter->texts[i])) {
            fputs(" AND (", query->out);
            add_words(query, columns[i], filter->texts[i]);
            if (i == FILTER_USER) {
                add_uids(query, filter->texts[i]);
            }
            fputc(')', query->out);
        }
    }
    if (filter->nodes.count > 0 && filter->nodes.count <= NAMES_MAX) {
        add_nodes(query, &filter->nodes);
    }
    /* COALESCE keeps a database from using the index of this order if another one selects better */
    fputs(filter->job_count > 0 ? " ORDER BY \"day\", node, id"
          : query->count > 1    ? " ORDER BY COALESCE(node, ''), id"
                                : " ORDER BY node, id",
          query->out);
}

/* --- lines ---------------------------------------------------------------------------------- */

/* Pass a line on. A line that no import has written is reported like a bad line of a file.
 * @return 0; -1: the sink's, or no memory */
static int hand_over(const struct selection *selection, struct db_value line)
{
    const struct apapi_scan_sink *sink = selection->sink;
    struct apapi_error why = {"a line that apapi import has not written"};
    struct apapi_record record;
    bool decoded =
        line.type == DB_TEXT && apapi_record_decode(line.text, line.size, &record, &why) == 0;
    int result = 0;

    if (line.type == DB_TEXT && !decoded && errno == ENOMEM) {
        return -1;
    }
    if (!decoded || !record_has_time(&record.measurement)) {
        sink->problem(&(struct apapi_scan_problem){.file = selection->url, .reason = why.text},
                      sink->context);
    } else if (filter_wants(&selection->filter, &record)) {
        result = sink->record(&record, line.text, line.size, sink->context);
    }
    if (decoded) {
        apapi_record_clear(&record);
    }
    return result;
}

static int read_lines(const struct selection *selection, struct db_statement *lines,
                      const struct query *query, struct apapi_error *err)
{
    int got = db_first(lines, query->values, query->count, err);

    for (; got > 0; got = db_step(lines, err)) {
        if (hand_over(selection, db_column(lines, 0))) {
            got = apapi_fail(err, errno, "%s", "");
            break;
        }
    }
    db_end(lines);
    return got;
}

/* Set `day` to the first day from `day` on, in UTC, with ends of records. @return 1; 0: none; -1 */
static int find_day(struct db_statement *days, char *day, size_t size, const char *last,
                    struct apapi_error *err)
{
    const struct db_value range[] = {db_text(day), db_text(last)};
    int got = db_first(days, range, COUNT_OF(range), err);

    if (got > 0) {
        struct db_value found = db_column(days, 0);

        got = found.type == DB_TEXT;
        snprintf(day, size, "%.*s", (int)found.size, found.text ? found.text : "");
    }
    db_end(days);
    return got;
}

/* Read day by day, so that an import does not have to wait for a long report. */
static int read_days(const struct selection *selection, const char *table,
                     struct db_statement *lines, struct query *query, struct apapi_error *err)
{
    char sql[96], day[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];
    struct db_statement *days;
    int got;

    snprintf(sql, sizeof sql, "SELECT MIN(\"day\") FROM %s WHERE \"day\" >= ? AND \"day\" <= ?",
             table);
    days = db_prepare(selection->db, sql, err);
    got = days ? 1 : -1;
    timestamp_day(day, sizeof day, selection->filter.from_ns);
    timestamp_day(last, sizeof last, selection->filter.to_ns - 1);
    while (got > 0 && (got = find_day(days, day, sizeof day, last, err)) > 0) {
        query->values[0] = db_text(day);
        got = read_lines(selection, lines, query, err) ? -1 : 1;
        strcat(day, "!"); /* sorts after this day and before the next one */
    }
    db_finalize(days);
    return got;
}

static int read_table(const struct selection *selection, const char *table, struct apapi_error *err)
{
    char *sql = NULL;
    size_t size;
    struct query query = {.out = open_memstream(&sql, &size)};
    struct db_statement *lines;
    int result = -1;

    if (query.out) {
        write_query(&query, selection, table);
    }
    lines = db_prepare_stream(selection->db, query.out, &sql, err);
    if (lines) {
        result = selection->filter.job_count > 0 ? read_lines(selection, lines, &query, err)
                                                 : read_days(selection, table, lines, &query, err);
    }
    db_finalize(lines);
    return result;
}

static int open_selection(struct selection *selection, const struct apapi_scan_filter *filter,
                          struct apapi_error *err)
{
    return filter_init(&selection->filter, filter, err) ||
                   db_connect(selection->url, false, &selection->db, err) ||
                   db_tables_check(selection->db, err)
               ? -1
               : 0;
}

static void close_selection(struct selection *selection)
{
    int code = errno;

    db_close(selection->db);
    filter_free(&selection->filter);
    errno = code;
}

int db_read_records(const char *url, const struct apapi_scan_filter *filter,
                    const struct apapi_scan_sink *sink, struct apapi_error *err)
{
    struct selection selection = {.sink = sink, .url = url};
    int result = open_selection(&selection, filter, err);

    result =
        result || read_table(&selection, "records", err) || read_table(&selection, "twins", err)
            ? -1
            : 0;
    close_selection(&selection);
    return result;
}

/* --- hours ---------------------------------------------------------------------------------- */

static int read_hours(const struct selection *selection, hour_f take, void *context,
                      struct apapi_error *err)
{
    const struct db_value range[] = {db_integer(selection->filter.from_ns),
                                     db_integer(selection->filter.to_ns)};
    struct db_statement *lines = db_prepare(selection->db,
                                            "SELECT line FROM hours WHERE start_ns >= ? AND "
                                            "start_ns < ? ORDER BY start_ns, node, cluster, end_ns",
                                            err);
    int got = lines ? db_first(lines, range, COUNT_OF(range), err) : -1;
    struct tree tree = {0};
    struct hour hour;

    for (; got > 0; got = got < 0 ? -1 : db_step(lines, err)) {
        struct db_value line = db_column(lines, 0);
        int decoded = line.text ? hour_decode(&tree, line.text, line.size, &hour, NULL) : 0;

        if (decoded < 0 && errno == ENOMEM) {
            got = apapi_fail(err, ENOMEM, "no memory");
        } else if (decoded > 0 && filter_wants_place(&selection->filter, hour.cluster, hour.node) &&
                   take(&hour, context)) {
            got = apapi_fail(err, errno, "%s", "");
        }
    }
    db_finalize(lines);
    tree_free(&tree);
    return got;
}

int db_read_hours(const char *url, const struct apapi_scan_filter *filter, hour_f take,
                  void *context, struct apapi_error *err)
{
    struct selection selection = {.url = url};
    int result = open_selection(&selection, filter, err);

    result = result || read_hours(&selection, take, context, err) ? -1 : 0;
    close_selection(&selection);
    return result;
}
