/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi report: what jobs have used. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/totals/totals.h"
#include "config/config.h"
#include "index/index.h"
#include "render/table.h"

#define COMMAND "report"
#define NAMES_SIZE 1024
#define CURVES_MAX (32 << 20) /* bytes */
#define NAMED_CURVES_MAX (64 << 20)

enum report_form {
    REPORT_TABLE = TABLE_FOR_PEOPLE,
    REPORT_CSV = TABLE_CSV,
    REPORT_PARSABLE = TABLE_PARSABLE,
    REPORT_JSON
};

struct report {
    struct query query;
    struct report_ledger ledger;
    struct rates rates;
    enum report_form form;
    struct report_format format;
    const char *format_text, *sort_text; /* NULL: not given */
    const struct report_field *sort;     /* NULL: sort by name */
    size_t top;                          /* 0: all */
    int shares;                          /* 1: the energy is what jobs were given of their nodes' */
    bool no_header, help_format;
    const char *by;
    double shared_j; /* counted more than once because jobs shared nodes; 0: none */
    struct table table;
    struct remarks remarks;
};

/* --- what makes a row ----------------------------------------------------------------------- */

/* Groups with one bucket per row. */
static const struct {
    enum report_by by;
    const char *name, *format;
} wholes[] = {
    {REPORT_BY_JOB, "job", "jobid,user,jobname,nodes,elapsed,energy,power,measured"},
    {REPORT_BY_STEP, "step", "stepid,name,nodes,elapsed,energy,power,maxpower,measured"},
    {REPORT_BY_NODE, "node", "node,cluster,records,energy,package,dram,gpu,power,measured"},
};

/* Also the names of the fields. */
static const char *const groups[] = {
    [REPORT_USER] = "user", [REPORT_ACCOUNT] = "account", [REPORT_PARTITION] = "partition",
    [REPORT_QOS] = "qos",   [REPORT_CLUSTER] = "cluster", [REPORT_DAY] = "day"};

/* "job", "step", "node", or a list of what the jobs of a row have in common, "user,account". */
static int set_by(void *target, const char *text, struct apapi_error *err)
{
    struct report *report = target;
    struct report_ledger *ledger = &report->ledger;
    bool has[REPORT_GROUPS + 1] = {false};
    size_t count = 0;

    report->by = text = text ? text : "job";
    for (size_t i = 0; i < COUNT_OF(wholes); i++) {
        if (strcmp(wholes[i].name, text) == 0) {
            ledger->by = wholes[i].by;
            ledger->group_count = 0;
            return 0;
        }
    }
    for (const char *word = text; count == 0 || *word++ == ',';) {
        size_t size = strcspn(word, ",");
        int group = 0;

        while (group < REPORT_GROUPS && !word_is(word, size, groups[group])) {
            group++;
        }
        if (group == REPORT_GROUPS) {
            return apapi_fail(err, EINVAL,
                              "--by=%.40s: valid are job, step, node, or a list of user, account, "
                              "partition, qos, cluster and day",
                              text);
        }
        if (has[group]) {
            return apapi_fail(err, EINVAL, "--by=%.40s: %s is listed twice", text, groups[group]);
        }
        has[group] = true;
        ledger->groups[count++] = group;
        word += size;
    }
    ledger->by = has[REPORT_DAY] ? REPORT_BY_DAY : REPORT_BY_GROUP;
    ledger->group_count = count;
    return 0;
}

/* --- a table, and for programs --------------------------------------------------------------- */

#define CELL_SIZE 4200
#define KEY_SIZE 40
#define LEAST_TEXT 6  /* minimum width of a text that is cut; a user's may be less */
#define FIT_ROWS 1000 /* rows that decide how wide columns are */

/* Texts are cut to the width of their column, numbers never. */
static void begin_table(struct report *report)
{
    static char keys[REPORT_COLUMNS_MAX][KEY_SIZE];
    static struct table_column columns[REPORT_COLUMNS_MAX];
    const struct report_format *format = &report->format;

    for (size_t i = 0; i < format->count; i++) {
        const struct report_column *column = &format->columns[i];
        bool text = column->field->kind < REPORT_COUNT;

        report_field_key(column->field, format->unit, keys[i], KEY_SIZE);
        columns[i] =
            (struct table_column){.title = column->field->name,
                                  .key = keys[i],
                                  .form = text                                  ? TABLE_TEXT
                                          : column->field->kind < REPORT_MOMENT ? TABLE_NUMBER
                                                                                : TABLE_RIGHT,
                                  .width = column->width,
                                  .most = text && column->width > 3 ? column->width : 0,
                                  .least = text && !column->given ? LEAST_TEXT : TABLE_WHOLE,
                                  .kept = true,
                                  .rough = report_field_is_rough(column->field)};
    }
    report->table = table_begin(columns, format->count, (enum table_output)report->form,
                                !report->no_header, stdout);
    report->table.indent = 0;
    report->table.fit_rows = FIT_ROWS;
}

static void put_table_row(const struct report *report, const struct report_row *row)
{
    static char texts[REPORT_COLUMNS_MAX][CELL_SIZE];
    struct table_cell cells[REPORT_COLUMNS_MAX];

    for (size_t i = 0; i < report->format.count; i++) {
        cells[i] = report_field_cell(report->format.columns[i].field, row, &report->format,
                                     texts[i], CELL_SIZE);
    }
    table_put(&report->table, cells);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static int put_json_row(const struct report *report, const struct report_row *row)
{
    struct json_writer json = {.out = stdout};
    char key[KEY_SIZE];

    json_begin_object(&json, NULL);
    for (size_t i = 0; i < report->format.count; i++) {
        const struct report_field *field = report->format.columns[i].field;
        const void *value = (const char *)row + field->offset;
        const char *text = report_field_string(field, row);

        report_field_key(field, REPORT_UNIT_J, key, sizeof key);
        if (text) {
            json_put_word(&json, key, text);
        } else if (field->kind == REPORT_MOMENT) {
            json_put_moment(&json, key, *(const int64_t *)value);
        } else if (field->kind == REPORT_FLAG) {
            json_put_flag(&json, key, *(const bool *)value);
        } else if (field->kind != REPORT_COUNT) {
            json_put_number(&json, key, *(const double *)value,
                            report_field_is_rough(field) ? JSON_ROUGH : JSON_MEASURED);
        } else if (*(const double *)value >= 0) {
            json_put_count(&json, key, (uint64_t) * (const double *)value);
        }
    }
    json_end(&json);
    return json_flush(&json) && errno == ENOMEM ? -1 : 0;
}

static void put_json_head(const struct report *report)
{
    struct json_writer json = {.out = stdout};

    printf("{\"version\":1,\"by\":\"%s\",", report->by);
    if (*report->format.currency) {
        fputs("\"currency\":", stdout);
        json_put_text(&json, NULL, report->format.currency);
        json_flush(&json);
        putchar(',');
    }
    if (report->shares) {
        printf("\"energy\":\"share\",");
    }
    if (report->shared_j > 0) {
        printf("\"shared_j\":%.9g,", report->shared_j);
    }
    puts("\"rows\":[");
}

/* --- options -------------------------------------------------------------------------------- */

static void list_fields(bool numbers_only)
{
    char names[NAMES_SIZE];

    report_fields_list(numbers_only, names, sizeof names);
    fprintf(stderr, "valid are: %s\n", names);
}

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP],...", "17 (also an array), 17.batch, 17_3, 17+1",
     TO_TEXT(struct report, query.jobs)},
    {OPTION_ROWS_OF(struct report, query, query_filter_rows)},
    {0, "by", "=WHAT",
     "job, step, node, or a list of user, account, partition, qos,\n"
     "cluster and day",
     TO_CALL(set_by)},
    {'X', "allocations", NULL, "the same as --by=job", TO_CALL(set_by)},
    {'o', "format", "=FIELD[%WIDTH],...", "columns; --helpformat lists them",
     TO_TEXT(struct report, format_text)},
    {0, "helpformat", NULL, NULL, TO_FLAG(struct report, help_format)},
    {0, "energy", "=WHAT",
     "node (default): energy of the jobs' nodes; share: what each job was\n"
     "given of it, where several ran",
     TO_CHOICE(struct report, shares, "node and share")},
    {0, "units", "=UNIT", "unit of energies (JSON: always J): auto, J, kJ, Wh or kWh",
     TO_CHOICE(struct report, format.unit, "auto, J, kJ, Wh and kWh")},
    {0, "sort", "=FIELD", "sort by this field, greatest first", TO_TEXT(struct report, sort_text)},
    {0, "top", "=N", "the first N rows; sorted by energy without --sort",
     TO_COUNT(struct report, top)},
    {0, "json", NULL, ", ", TO_VALUE(struct report, form, REPORT_JSON)},
    {0, "csv", NULL, ", ", TO_VALUE(struct report, form, REPORT_CSV)},
    {'P', "parsable2", NULL, "for programs", TO_VALUE(struct report, form, REPORT_PARSABLE)},
    {'n', "noheader", NULL, "no line of titles", TO_FLAG(struct report, no_header)},
    {OPTION_ROWS_OF(struct report, query, query_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi report [OPTION]... [FILE]...\n"
            "Show the energy of jobs, from the accounting folder, FILEs of records (-: a pipe)\n"
            "or --db. Without -j or FILE: records that ended today.\n",
    .foot = "TIME is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, 1 no job found, or failure, 2 wrong usage.\n",
    .column = 32,
    .rows = rows};

/* --- what follows from them ----------------------------------------------------------------- */

static int set_format(struct report *report, struct apapi_error *err)
{
    static struct report_field share;
    const struct report_ledger *ledger = &report->ledger;
    bool grouped = ledger->group_count > 0;
    const char *fields = ",jobs,elapsed,energy,power,measured";
    const char *list = report->format_text;
    char all[NAMES_SIZE];

    for (size_t i = 0; i < COUNT_OF(wholes) && !grouped; i++) {
        fields = wholes[i].by == ledger->by ? wholes[i].format : fields;
    }
    if (!list && report->form == REPORT_JSON) {
        report_fields_list(false, all, sizeof all);
        list = all;
    } else if (!list) {
        snprintf(all, sizeof all, "%s%s%s%s", grouped ? report->by : "", fields,
                 isnan(report->rates.co2_g_per_kwh) ? "" : ",co2",
                 isnan(report->rates.price_per_kwh) ? "" : ",cost");
        list = all;
    }
    report->format.currency = report->rates.currency;
    if (report_format_parse(list, &report->format, err)) {
        return -1;
    }
    for (size_t i = 0; i < report->format.count && report->shares; i++) {
        struct report_column *column = &report->format.columns[i];

        if (column->field->offset == offsetof(struct report_row, energy_j)) {
            share = *column->field;
            share.name = "share"; /* not the energy of nodes */
            column->field = &share;
        }
    }
    return 0;
}

static int report_command_prepare(struct report *report)
{
    struct query *query = &report->query;
    struct report_ledger *ledger = &report->ledger;
    struct apapi_error err;

    if (rates_read(query->config, &report->rates, &err)) {
        return command_fail(COMMAND, "%s", err.text);
    }
    if (set_format(report, &err)) {
        bool unknown = errno != ERANGE;

        command_refuse(COMMAND, "%s", err.text);
        if (unknown) {
            list_fields(false);
        }
        return USAGE_ERROR;
    }
    if (report->top && !report->sort_text) {
        report->sort_text = "energy";
    }
    report->sort = report->sort_text ? report_field_sortable(report->sort_text, &err) : NULL;
    if (report->sort_text && !report->sort) {
        command_refuse(COMMAND, "%s", err.text);
        list_fields(true);
        return USAGE_ERROR;
    }
    /* Of all records together, curves take no more room; without -j there may be millions. */
    ledger->store.curve_max = query->jobs ? NAMED_CURVES_MAX : CURVES_MAX;
    ledger->store.shares = report->shares;
    ledger->store.mixed = ledger->by == REPORT_BY_NODE;
    ledger->store.lists = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_DAY;
    return query->nodes && report_ledger_ask(ledger, query->nodes)
               ? command_fail(COMMAND, "no memory")
               : 0;
}

/* --- rows from records ------------------------------------------------------------------------ */

static int print_rows(struct report *report, const uint32_t *order, size_t count)
{
    struct report_view view = {.rates = &report->rates,
                               .remarks = report->form == REPORT_TABLE ? &report->remarks : NULL};
    bool json = report->form == REPORT_JSON;
    struct report_row row;
    int result = 0;

    report->remarks.most = REPORT_REMARKS_MAX;
    for (size_t i = 0; i < report->format.count; i++) {
        view.nodelists |= report->format.columns[i].field->kind == REPORT_LIST;
    }
    count = report->top && report->top < count ? report->top : count;
    if (json) {
        put_json_head(report);
    } else {
        begin_table(report);
    }
    for (size_t i = 0; i < count && result == 0 && !ferror(stdout); i++) {
        result = report_ledger_sum(&report->ledger, order[i], &view, &row);
        if (result == 0 && json) {
            fputs(i > 0 ? ",\n" : "", stdout);
            result = put_json_row(report, &row);
        } else if (result == 0) {
            put_table_row(report, &row);
        }
        report_row_free(&row);
    }
    if (json) {
        puts("]}");
    } else if (table_end(&report->table, NULL)) {
        result = -1;
    }
    fflush(stdout);
    return result;
}

static void print_remarks(struct report *report)
{
    char energy[UNITS_SIZE];

    for (size_t i = 0; i < report->remarks.texts.count; i++) {
        command_fail(COMMAND, "%s", report->remarks.texts.names[i]);
    }
    namelist_free(&report->remarks.texts);
    if (report->remarks.count > REPORT_REMARKS_MAX) {
        fprintf(stderr, "apapi " COMMAND ": and %zu more; see the fields incomplete and missing\n",
                report->remarks.count - REPORT_REMARKS_MAX);
    }
    if (report->form == REPORT_TABLE && report->shared_j > 0) {
        report_energy_text(energy, sizeof energy, report->shared_j, NAN, report->format.unit);
        fprintf(stderr,
                "apapi " COMMAND
                ": nodes shared by jobs: %s counted more than once, as each job has "
                "the whole node's; --by node counts it once\n",
                energy);
    }
}

static int print_report(struct report *report)
{
    struct report_ledger *ledger = &report->ledger;
    struct report_column *columns = report->format.columns;
    size_t count = 0;
    uint32_t *order = report_ledger_rows(ledger, &count);
    int result = order ? 0 : -1;

    if (ledger->by == REPORT_BY_NODE && !ledger->clusters && !report->format_text &&
        report->form != REPORT_JSON) { /* the cluster is not needed */
        memmove(columns + 1, columns + 2, (--report->format.count - 1) * sizeof *columns);
    }
    if (order && count == 0) {
        free(order);
        return command_fail(COMMAND, "no job found");
    }
    if (result == 0 && report->sort) {
        result = report_sort(ledger, report->sort, &report->rates, order, count);
    }
    if (result == 0) {
        result = report_ledger_shared(ledger, &report->shared_j);
    }
    if (result == 0) {
        result = print_rows(report, order, count);
    }
    free(order);
    print_remarks(report);
    return command_end(COMMAND, result);
}

/* --- the command ---------------------------------------------------------------------------- */

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *ledger)
{
    return report_ledger_add(ledger, record, record_digest(line, size));
}

static int take_brief(const struct apapi_record *record, uint64_t digest, void *ledger)
{
    return report_ledger_add(ledger, record, digest);
}

int report_command(int argc, char **argv)
{
    static struct report report = {.query.command = COMMAND, .by = "job"};
    static const struct own_brief brief = {CURVES_MAX, &report.ledger.store.curveless,
                                           report_ledger_parts, take_brief, &report.ledger};
    struct query *query = &report.query;
    const struct report_field *field;
    int status = command_options(&table, argc, argv, &report);

    if (status >= 0) {
        return status;
    }
    if (report.help_format) {
        for (size_t i = 0; (field = report_field_at(i)); i++) {
            printf("%-14s %s\n", field->name, field->help);
        }
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    query_words(query, argv + optind, (size_t)(argc - optind), false);
    /* As in sacct, a job that is named is found whenever it ran. */
    if (!query->from && !query->to && !query->jobs && query->file_count == 0) {
        query->from = "today";
    }
    status = records_begin(query);
    status = status ? status : report_command_prepare(&report);
    query->brief = report.shares ? NULL : &brief;
    status = status ? status : records_read(query, take_record, &report.ledger);
    status = records_end(query, status ? status : print_report(&report));
    report_ledger_free(&report.ledger);
    return status;
}
