/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi report: the energy that jobs have used. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* --- fields of rows -------------------------------------------------------------------------- */

enum report_kind {
    REPORT_TEXT,
    REPORT_LIST,    /* char *, allocated with malloc() */
    REPORT_BUFFER,  /* char[] */
    REPORT_MOMENT,  /* int64_t, ns since 1970 */
    REPORT_FLAG,    /* bool */
    REPORT_COUNT,   /* this and the following are double; NaN: not known */
    REPORT_ENERGY,  /* J */
    REPORT_POWER,   /* W */
    REPORT_SECONDS, /* s */
    REPORT_PERCENT,
    REPORT_MASS, /* g */
    REPORT_MONEY
};

/* A field that users can select. */
struct report_field {
    const char *name;
    enum report_kind kind;
    size_t width;  /* of its column in a table */
    size_t offset; /* in struct report_row */
    const char *help;
};

#define ENERGY_WIDTH 10
#define POWER_WIDTH 10
#define TIME_WIDTH 19
#define FIXED_DECIMALS 3 /* of an energy in a unit that the user has chosen */
#define WIDTH_MAX 4096
#define ROW(member) offsetof(struct report_row, member)

static const struct report_field fields[] = {
    {"jobid", REPORT_BUFFER, 10, ROW(job_id), "job, as 17, 17_3 of an array or 17+1"},
    {"stepid", REPORT_BUFFER, 12, ROW(step_id), "job and step; --by step"},
    {"day", REPORT_TEXT, 10, ROW(words[REPORT_DAY]), "local day; --by day"},
    {"node", REPORT_TEXT, 12, ROW(node), "name of the node; --by node"},
    {"cluster", REPORT_TEXT, 10, ROW(words[REPORT_CLUSTER]), "name of the cluster"},
    {"user", REPORT_TEXT, 9, ROW(words[REPORT_USER]), "user who ran it"},
    {"account", REPORT_TEXT, 10, ROW(words[REPORT_ACCOUNT]), "account of the job"},
    {"partition", REPORT_TEXT, 10, ROW(words[REPORT_PARTITION]), "partition of the job"},
    {"qos", REPORT_TEXT, 8, ROW(words[REPORT_QOS]), "QOS of the job"},
    {"jobname", REPORT_TEXT, 12, ROW(words[REPORT_JOB_NAME]), "name of the job"},
    {"name", REPORT_TEXT, 12, ROW(words[REPORT_NAME]), "name of the step's program"},
    {"jobs", REPORT_COUNT, 6, ROW(jobs), "number of jobs"},
    {"steps", REPORT_COUNT, 5, ROW(steps), "number of steps that have a record"},
    {"nodes", REPORT_COUNT, 5, ROW(nodes), "number of nodes"},
    {"nodelist", REPORT_LIST, 15, ROW(nodelist), "nodes that have a record"},
    {"start", REPORT_MOMENT, TIME_WIDTH, ROW(start_ns), "first reading, local time"},
    {"end", REPORT_MOMENT, TIME_WIDTH, ROW(end_ns), "last reading"},
    {"elapsed", REPORT_SECONDS, 11, ROW(elapsed_s),
     "from first to last reading, sum over jobs; of a node: with a record"},
    {"energy", REPORT_ENERGY, ENERGY_WIDTH, ROW(energy_j), "package + dram + gpu"},
    {"uncertainty", REPORT_ENERGY, ENERGY_WIDTH + 1, ROW(uncertainty_j),
     "of energy, above or below, but for that of the meters"},
    {"package", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_PACKAGE]), "of processors"},
    {"dram", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_DRAM]), "of memory"},
    {"gpu", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_GPU]), "of GPUs"},
    {"core", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_CORE]), "inside package"},
    {"uncore", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_UNCORE]), "inside package"},
    {"psys", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_PSYS]), "of the platform"},
    {"nodeenergy", REPORT_ENERGY, ENERGY_WIDTH, ROW(domain_j[APAPI_DOMAIN_NODE]),
     "of whole nodes, by meters of their own"},
    {"energypernode", REPORT_ENERGY, 13, ROW(energy_per_node_j), "energy / nodes"},
    {"power", REPORT_POWER, POWER_WIDTH, ROW(power_w), "mean while any node was measured"},
    {"maxpower", REPORT_POWER, POWER_WIDTH, ROW(max_power_w), "greatest of one node"},
    {"measured", REPORT_PERCENT, 8, ROW(measured_pct), "node time with known energy"},
    {"covered", REPORT_PERCENT, 8, ROW(covered_pct), "records' time between good readings"},
    {"missing_domains", REPORT_BUFFER, 15, ROW(missing_domains), "domains that energy lacks"},
    {"records", REPORT_COUNT, 7, ROW(records), "number of records"},
    {"complete", REPORT_FLAG, 8, ROW(complete), "yes: none is incomplete or missing"},
    {"incomplete", REPORT_COUNT, 10, ROW(incomplete), "records that end before their step"},
    {"missing", REPORT_COUNT, 7, ROW(missing), "nodes of a step without a record"},
    {"missing_nodes", REPORT_LIST, 15, ROW(missing_nodes), "names of these nodes, as far as known"},
    {"reason", REPORT_TEXT, 20, ROW(reason), "why a record is incomplete"},
    {"delayed", REPORT_COUNT, 7, ROW(delayed), "records that were written late"},
    {"shareless", REPORT_COUNT, 9, ROW(shareless), "records without a share; --energy=share"},
    {"idle_included", REPORT_COUNT, 13, ROW(with_idle), "records with idle power in the share"},
    {"exit", REPORT_BUFFER, 6, ROW(exit), "greatest exit status:signal"},
    {"state", REPORT_TEXT, 9, ROW(state), "COMPLETED: all tasks with status 0; else FAILED"},
    {"restarts", REPORT_COUNT, 8, ROW(restarts), "times the job was requeued"},
    {"co2", REPORT_MASS, 10, ROW(co2_g), "energy x PUE x co2_g_per_kwh of apapi.conf"},
    {"cost", REPORT_MONEY, 10, ROW(cost), "energy x PUE x price_per_kwh of apapi.conf"},
};
#define FIELD_COUNT COUNT_OF(fields)

static const struct {
    const char *name, *suffix;
    double factor; /* in J */
} units[] = {
    {"auto", "j", 1}, {"J", "j", 1}, {"kJ", "kj", 1e3}, {"Wh", "wh", 3600}, {"kWh", "kwh", 3.6e6}};

/* --- the command's state ---------------------------------------------------------------------- */

#define REPORT_COLUMNS_MAX 64

struct report_column {
    const struct report_field *field;
    size_t width;
    bool given; /* set by the user */
};

struct report {
    struct query query;
    struct report_ledger ledger;
    struct rates rates;
    enum report_form form;
    struct report_column columns[REPORT_COLUMNS_MAX];
    size_t count;
    int unit;                            /* unit of energies, as its number in `units` */
    const char *format_text, *sort_text; /* NULL: not given */
    const struct report_field *sort;     /* NULL: sort by name */
    size_t top;                          /* 0: all */
    int shares;                          /* 1: energies are jobs' shares in their nodes' energy */
    bool no_header, help_format, json;
    const char *by;
    double shared_j; /* energy counted more than once because jobs shared nodes [J]; 0: none */
    struct table_column shown[REPORT_COLUMNS_MAX]; /* the columns as table.h writes them */
    struct table table;
    struct remarks remarks;
};

/* --- what makes a row ----------------------------------------------------------------------- */

/* Groups with one bucket per row. */
static const struct {
    enum report_by by;
    const char *name, *format;
} wholes[] = {
    {REPORT_BY_JOB, "job", "jobid,cluster,user,jobname,nodes,elapsed,energy,power,measured"},
    {REPORT_BY_STEP, "step", "stepid,cluster,name,nodes,elapsed,energy,power,maxpower,measured"},
    {REPORT_BY_NODE, "node", "node,cluster,records,energy,package,dram,gpu,power,measured"},
};

/* names of the groups, which are also the names of their fields */
static const char *const groups[] = {
    [REPORT_USER] = "user", [REPORT_ACCOUNT] = "account", [REPORT_PARTITION] = "partition",
    [REPORT_QOS] = "qos",   [REPORT_CLUSTER] = "cluster", [REPORT_DAY] = "day"};

/* --by is "job", "step", "node", or what the jobs of a row have in common, as "user,account". */
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

/* --- cells ---------------------------------------------------------------------------------- */

#define CELL_SIZE 128

/* Format in the unit of --units, with only known digits. @param uncertainty_j  NaN: not known */
static struct units_text energy_text(double energy_j, double uncertainty_j, int unit)
{
    struct units_scale scale = {units[unit].factor, "", FIXED_DECIMALS};

    if (unit == 0) {
        return units_known_quantity(energy_j, uncertainty_j, "J");
    }
    if (energy_j > 0 && energy_j < scale.factor / 10) { /* three digits that are not 0 */
        scale.decimals = 2 - (int)floor(log10(energy_j / scale.factor));
    }
    units_keep_known(&scale, energy_j, uncertainty_j);
    return units_part(true, "%s %s", units_number_full(energy_j, &scale).text, units[unit].name);
}

/* Format a number for people: "24.82 kJ". */
static void put_number(const struct report *report, const struct report_field *field,
                       const struct report_row *row, double value, char text[CELL_SIZE])
{
    /* all energies and powers of a row are taken to be as uncertain as its total; of an
     * uncertainty, two digits or three are shown */
    double share = field->offset == ROW(uncertainty_j) ? 0.1 : row->uncertainty_j / row->energy_j;
    const char *currency = report->rates.currency;

    switch (field->kind) {
    case REPORT_ENERGY:
        snprintf(text, CELL_SIZE, "%s", energy_text(value, value * share, report->unit).text);
        if (field->offset == ROW(energy_j)) {
            units_beside(text, CELL_SIZE, share, true);
        }
        break;
    case REPORT_POWER:
        if (!row->brief) {
            snprintf(text, CELL_SIZE, "%s", units_known_quantity(value, value * share, "W").text);
        }
        break;
    case REPORT_SECONDS:
        snprintf(text, CELL_SIZE, "%s", elapsed_text(value).text);
        break;
    case REPORT_PERCENT: /* 100 % means that nothing is missing */
        snprintf(text, CELL_SIZE, "%.1f %%", floor(value * 10 + 1e-6) / 10);
        break;
    case REPORT_MASS:
        if (value >= 0.005) {
            snprintf(text, CELL_SIZE, value < 1000 ? "%.2f g" : "%.2f kg",
                     value < 1000 ? value : value / 1e3);
        }
        break;
    case REPORT_MONEY:
        if (value >= 0.00005) {
            snprintf(text, CELL_SIZE, value < 1 ? "%.4f%s%.20s" : "%.2f%s%.20s", value,
                     *currency ? " " : "", currency);
        }
        break;
    default:
        snprintf(text, CELL_SIZE, "%.0f", value);
    }
}

/* @param text  room for the cell's text. @return the cell, with its number in the chosen unit */
static struct table_cell cell_of(const struct report *report, const struct report_field *field,
                                 const struct report_row *row, char text[CELL_SIZE])
{
    const void *member = (const char *)row + field->offset;
    struct table_cell cell = {.text = text};

    *text = '\0';
    switch (field->kind) {
    case REPORT_TEXT:
    case REPORT_LIST:
        cell.text = *(const char *const *)member;
        cell.text = cell.text ? cell.text : "";
        break;
    case REPORT_BUFFER:
        cell.text = member;
        break;
    case REPORT_MOMENT:
        snprintf(text, CELL_SIZE, "%s",
                 units_local_time(*(const int64_t *)member, "%Y-%m-%dT%H:%M:%S").text);
        if (report->json) {
            timestamp_format(text, CELL_SIZE, *(const int64_t *)member);
        }
        break;
    case REPORT_FLAG:
        cell.value = *(const bool *)member;
        cell.text = cell.value > 0 ? "yes" : "no";
        break;
    default:
        cell.value = *(const double *)member;
        if (!isnan(cell.value)) {
            put_number(report, field, row, cell.value, text);
        }
        cell.value /= field->kind == REPORT_ENERGY ? units[report->unit].factor : 1;
    }
    return cell;
}

/* --- a table, and for programs --------------------------------------------------------------- */

#define KEY_SIZE 40
#define LEAST_TEXT 6  /* least width of a text that is cut, unless the user gives less */
#define FIT_ROWS 1000 /* rows that decide how wide columns are */

/* Make the key of a field for programs, its name with its unit: "energy_j". */
static void put_key(const struct report_field *field, int unit, char key[KEY_SIZE])
{
    static const char *const suffixes[] = {[REPORT_POWER] = "w",
                                           [REPORT_SECONDS] = "s",
                                           [REPORT_PERCENT] = "pct",
                                           [REPORT_MASS] = "g",
                                           [REPORT_MONEY] = NULL};
    const char *suffix = field->kind == REPORT_ENERGY ? units[unit].suffix : suffixes[field->kind];

    snprintf(key, KEY_SIZE, "%s%s%s", field->name, suffix ? "_" : "", suffix ? suffix : "");
}

/* Texts are cut to the width of their column, numbers are never cut. */
static void make_columns(struct report *report)
{
    static const enum table_form forms[] = {
        [REPORT_MOMENT] = TABLE_RIGHT, [REPORT_FLAG] = TABLE_FLAG, [REPORT_COUNT] = TABLE_COUNT};
    static char keys[REPORT_COLUMNS_MAX][KEY_SIZE];

    for (size_t i = 0; i < report->count; i++) {
        const struct report_column *column = &report->columns[i];
        const struct report_field *field = column->field;
        bool text = field->kind < REPORT_MOMENT;

        put_key(field, report->unit, keys[i]);
        report->shown[i] = (struct table_column){
            .title = field->name,
            .key = keys[i],
            .form = field->kind < COUNT_OF(forms) ? forms[field->kind] : TABLE_NUMBER,
            .width = column->width,
            .most = text && column->width > 3 ? column->width : 0,
            .least = text && !column->given ? LEAST_TEXT : TABLE_WHOLE,
            .kept = true,
            .rough = field->kind == REPORT_PERCENT || field->offset == ROW(uncertainty_j)};
    }
}

static void put_json_head(const struct report *report)
{
    struct json_writer json = {.out = stdout};

    printf("{\"version\":1,\"by\":\"%s\",", report->by);
    if (*report->rates.currency) {
        fputs("\"currency\":", stdout);
        json_put_text(&json, NULL, report->rates.currency);
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

/* @param json  NULL: write a row of the table. @return 0; -1 with errno ENOMEM */
static int put_row(const struct report *report, const struct report_row *row,
                   struct json_writer *json)
{
    static char texts[REPORT_COLUMNS_MAX][CELL_SIZE];
    struct table_cell cells[REPORT_COLUMNS_MAX];

    for (size_t i = 0; i < report->count; i++) {
        cells[i] = cell_of(report, report->columns[i].field, row, texts[i]);
    }
    if (!json) {
        table_put(&report->table, cells);
        return 0;
    }
    json_begin_object(json, NULL);
    table_write_cells(json, report->shown, report->count, cells);
    json_end(json);
    return json_flush(json) && errno == ENOMEM ? -1 : 0;
}

/* --- options -------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP],...", "17 (also an array), 17.batch, 17_3, 17+1",
     TO_WORDS(struct report, query.jobs)},
    {OPTION_ROWS_OF(struct report, query, query_filter_rows)},
    {0, "by", "=WHAT",
     "job, step, node, or a list of user, account, partition, qos,\n"
     "cluster and day",
     TO_CALL(set_by)},
    {'X', "allocations", NULL, "the same as --by=job", TO_CALL(set_by)},
    {'o', "format", "=FIELD[%WIDTH],...", "columns", TO_WORDS(struct report, format_text)},
    {0, "helpformat", NULL, "list the fields", TO_FLAG(struct report, help_format)},
    {0, "energy", "=WHAT",
     "node (default): energy of the jobs' nodes; share: what each job was\n"
     "given of it, where several ran",
     TO_CHOICE(struct report, shares, "node and share")},
    {0, "units", "=UNIT", "unit of energies (JSON: always J): auto, J, kJ, Wh or kWh",
     TO_CHOICE(struct report, unit, "auto, J, kJ, Wh and kWh")},
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
            "or --db. Without -j, -S, -E and FILE: records that ended today.\n",
    .foot = "TIME is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, 1 no job found, or failure, 2 wrong usage.\n",
    .column = 32,
    .rows = rows};

/* --- what follows from them ----------------------------------------------------------------- */

static bool is_number(const struct report_field *field)
{
    return field->kind >= REPORT_COUNT;
}

static const struct report_field *find_field(const char *name, size_t length)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strlen(fields[i].name) == length && strncasecmp(fields[i].name, name, length) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static int refuse_field(const struct apapi_error *err, bool numbers_only)
{
    const char *separator = "valid are: ";

    command_refuse(COMMAND, "%s", err->text);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (is_number(&fields[i]) || !numbers_only) {
            fprintf(stderr, "%s%s", separator, fields[i].name);
            separator = ",";
        }
    }
    fputc('\n', stderr);
    return USAGE_ERROR;
}

/* Parse "jobid,energy%12". @return 0; -1 with errno EINVAL (no such field), ERANGE (bad width). */
static int parse_columns(struct report *report, const char *list, struct apapi_error *err)
{
    for (const char *word = list;; word++) {
        size_t size = strcspn(word, ","), name_size = strcspn(word, ",%");
        const struct report_field *field = find_field(word, name_size);
        size_t width = field ? field->width : 0;
        char *end;

        if (!field) {
            return apapi_fail(err, EINVAL, "unknown field '%.*s'", (int)name_size, word);
        }
        if (name_size < size) {
            width = strtoul(word + name_size + 1, &end, 10);
            if (end != word + size || width < 1 || width > WIDTH_MAX) {
                return apapi_fail(err, ERANGE, "'%.*s': the width is not a number from 1 to %d",
                                  (int)size, word, WIDTH_MAX);
            }
        }
        if (report->count == REPORT_COLUMNS_MAX) {
            return apapi_fail(err, ERANGE, "more than %d fields", REPORT_COLUMNS_MAX);
        }
        report->columns[report->count++] = (struct report_column){field, width, name_size < size};
        word += size;
        if (*word == '\0') {
            return 0;
        }
    }
}

/* Take the columns of --format; without it, all fields for JSON, a selection for other forms. */
static int choose_columns(struct report *report, struct apapi_error *err)
{
    static struct report_field share;
    const struct report_ledger *ledger = &report->ledger;
    bool grouped = ledger->group_count > 0, all = !report->format_text && report->json;
    const char *some = ",jobs,elapsed,energy,power,measured";
    char list[NAMES_SIZE];

    for (size_t i = 0; i < COUNT_OF(wholes) && !grouped; i++) {
        some = wholes[i].by == ledger->by ? wholes[i].format : some;
    }
    snprintf(list, sizeof list, "%s%s%s%s", grouped ? report->by : "", some,
             isnan(report->rates.co2_g_per_kwh) ? "" : ",co2",
             isnan(report->rates.price_per_kwh) ? "" : ",cost");
    for (size_t i = 0; i < FIELD_COUNT && all; i++) {
        report->columns[report->count++].field = &fields[i];
    }
    if (!all && parse_columns(report, report->format_text ? report->format_text : list, err)) {
        return -1;
    }
    for (size_t i = 0; i < report->count && report->shares; i++) {
        struct report_column *column = &report->columns[i];

        if (column->field->offset == ROW(energy_j)) {
            share = *column->field;
            share.name = "share"; /* because it is not the energy of nodes */
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

    report->json = report->form == REPORT_JSON;
    report->unit = report->json ? 0 : report->unit;
    if (rates_read(query->config, &report->rates, &err)) {
        return command_fail(COMMAND, "%s", err.text);
    }
    if (choose_columns(report, &err)) {
        return errno == ERANGE ? command_refuse(COMMAND, "%s", err.text)
                               : refuse_field(&err, false);
    }
    if (report->top && !report->sort_text) {
        report->sort_text = "energy";
    }
    report->sort =
        report->sort_text ? find_field(report->sort_text, strlen(report->sort_text)) : NULL;
    if (report->sort_text && (!report->sort || !is_number(report->sort))) {
        apapi_fail(&err, EINVAL,
                   report->sort ? "cannot sort by '%.40s', which is not a number"
                                : "unknown field '%.40s'",
                   report->sort_text);
        return refuse_field(&err, true);
    }
    /* curve_max limits all curves together; without -j there may be millions of records. */
    ledger->store.curve_max = query->jobs ? NAMED_CURVES_MAX : CURVES_MAX;
    ledger->store.shares = report->shares;
    ledger->store.mixed = ledger->by == REPORT_BY_NODE;
    ledger->store.lists = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_DAY;
    return sum_ask(&ledger->store, query->wanted.nodes) ? command_fail(COMMAND, "no memory") : 0;
}

/* --- rows from records ------------------------------------------------------------------------ */

/* Sort greatest first, unknown last, else by row. @param values  by the number of a row's bucket */
static int compare_values(const void *left, const void *right, void *values)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    double value = ((const double *)values)[a], other = ((const double *)values)[b];
    int order = isnan(value) || isnan(other) ? isnan(value) - isnan(other) : COMPARE(other, value);

    return order ? order : COMPARE(a, b);
}

/* Sum up each row a second time rather than keep all rows: there may be a million. */
static int sort_rows(const struct report *report, uint32_t *order, size_t count)
{
    const struct report_view view = {.rates = &report->rates};
    double *values = calloc(report->ledger.bucket_count + 1, sizeof *values);
    int result = values ? 0 : -1;

    for (size_t i = 0; i < count && result == 0; i++) {
        struct report_row row;

        result = report_ledger_sum(&report->ledger, order[i], &view, &row);
        if (result == 0) {
            values[order[i]] = *(double *)(void *)((char *)&row + report->sort->offset);
            report_row_free(&row);
        }
    }
    if (result == 0) {
        qsort_r(order, count, sizeof *order, compare_values, values);
    }
    free(values);
    return result;
}

static int print_rows(struct report *report, const uint32_t *order, size_t count)
{
    struct report_view view = {.rates = &report->rates,
                               .remarks = report->form == REPORT_TABLE ? &report->remarks : NULL};
    struct json_writer json = {.out = stdout};
    struct report_row row;
    int result = 0;

    report->remarks.most = REPORT_REMARKS_MAX;
    for (size_t i = 0; i < report->count; i++) {
        view.nodelists |= report->columns[i].field->kind == REPORT_LIST;
    }
    count = report->top && report->top < count ? report->top : count;
    make_columns(report);
    if (report->json) {
        put_json_head(report);
    } else {
        report->table = table_begin(report->shown, report->count, (enum table_output)report->form,
                                    !report->no_header, stdout);
        report->table.indent = 0;
        report->table.fit_rows = FIT_ROWS;
    }
    for (size_t i = 0; i < count && result == 0 && !ferror(stdout); i++) {
        result = report_ledger_sum(&report->ledger, order[i], &view, &row);
        if (result == 0) {
            fputs(report->json && i > 0 ? ",\n" : "", stdout);
            result = put_row(report, &row, report->json ? &json : NULL);
        }
        report_row_free(&row);
    }
    if (report->json) {
        puts("]}");
    } else if (table_end(&report->table, NULL)) {
        result = -1;
    }
    fflush(stdout);
    return result;
}

static void print_remarks(struct report *report)
{
    for (size_t i = 0; i < report->remarks.texts.count; i++) {
        command_fail(COMMAND, "%s", report->remarks.texts.names[i]);
    }
    namelist_free(&report->remarks.texts);
    if (report->remarks.count > REPORT_REMARKS_MAX) {
        fprintf(stderr, "apapi " COMMAND ": and %zu more; see the fields incomplete and missing\n",
                report->remarks.count - REPORT_REMARKS_MAX);
    }
    if (report->form == REPORT_TABLE && report->shared_j > 0) {
        fprintf(stderr,
                "apapi " COMMAND
                ": nodes shared by jobs: %s counted more than once, as each job has "
                "the whole node's; --by node counts it once\n",
                energy_text(report->shared_j, NAN, report->unit).text);
    }
}

static int print_report(struct report *report)
{
    struct report_ledger *ledger = &report->ledger;
    struct report_column *columns = report->columns;
    size_t count = 0;
    uint32_t *order = report_ledger_rows(ledger, &count);
    int result = order ? 0 : -1;

    bool clusters =
        ledger->clusters && (ledger->by == REPORT_BY_NODE || report->form == REPORT_TABLE);

    if (ledger->group_count == 0 && !clusters && !report->format_text &&
        !report->json) { /* the cluster is not needed, or programs do not expect it */
        memmove(columns + 1, columns + 2, (--report->count - 1) * sizeof *columns);
    }
    if (order && count == 0 && report->form == REPORT_TABLE && !report->json) {
        free(order);
        return command_fail(COMMAND, "no job found");
    }
    if (result == 0 && report->sort) {
        result = sort_rows(report, order, count);
    }
    if (result == 0) {
        result = report_ledger_shared(ledger, &report->shared_j);
    }
    if (result == 0) {
        result = print_rows(report, order, count);
    }
    free(order);
    print_remarks(report);
    return result == 0 && count == 0 ? command_fail(COMMAND, "no job found")
                                     : command_end(COMMAND, result);
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
    int status = option_table_read(&table, argc, argv, &report);

    if (status >= 0) {
        return status;
    }
    if (report.help_format) {
        for (size_t i = 0; i < FIELD_COUNT; i++) {
            printf("%-14s %s\n", fields[i].name, fields[i].help);
        }
        return command_finish(COMMAND, EXIT_SUCCESS);
    }
    query_words(query, argv + optind, (size_t)(argc - optind), false);
    /* As in sacct, a job that the user names is found whenever it ran. */
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
