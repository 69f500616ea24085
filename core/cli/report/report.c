/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi report: what jobs have used. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/report/report_print.h"
#include "cli/slurm/sacct.h"
#include "cli/totals/row_fields.h"
#include "cli/totals/totals.h"
#include "cli/when.h"
#include "config/values.h"
#include "render/table.h"

/*
 * Rows of jobs from Slurm's accounting, where `apapi sync` has written their energy: for users who
 * can read no records. Slurm decides whose jobs they see.
 */

/** A row: a job, or all those of a group. */
struct report_slurm_sum {
    struct report_row row;         /* its texts are those of jobs */
    const struct sacct_job *first; /* of its jobs */
    double busy_s, node_s, measured_s;
};

struct report_slurm {
    const struct report_input *input;
    const struct report_ledger *ledger; /* its groups and states */
    struct sacct_job *jobs;             /* wanted jobs with an energy */
    size_t count, room;
    struct report_slurm_sum *rows;
    size_t row_count;
};

/* --- Slurm's accounting --------------------------------------------------------------------- */

#define PATIENCE_NS (30 * (uint64_t)NS_PER_S) /* for slurmdbd */

static bool report_slurm_is_in(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

/* Of its states, records know two. */
static bool report_slurm_has_state(unsigned states, const struct sacct_job *job)
{
    for (unsigned state = 1; state <= REPORT_STATE_FAILED; state <<= 1) {
        if (states & state && strcmp(job->state, report_state_name(state)) == 0) {
            return true;
        }
    }
    return states == 0;
}

static int report_slurm_take(const struct sacct_job *job, void *context)
{
    struct report_slurm *slurm = context;
    const struct report_input *input = slurm->input;

    if (!isfinite(job->energy_j) || !report_slurm_is_in(input->accounts, job->account) ||
        !report_slurm_is_in(input->partitions, job->partition) ||
        !report_slurm_is_in(input->job_names, job->job_name) ||
        !report_slurm_has_state(slurm->ledger->states, job)) {
        return 0;
    }
    if (array_add(&slurm->jobs, slurm->count, &slurm->room, sizeof *slurm->jobs)) {
        return -1;
    }
    slurm->jobs[slurm->count++] = *job;
    return 0;
}

/* Without a user and a job, those of the caller, as for sacct. */
static int report_slurm_read(struct report_slurm *slurm, struct apapi_error *err)
{
    const struct report_input *input = slurm->input;
    struct sacct_query query = {.jobs = input->jobs,
                                .users = input->users,
                                .clusters = input->clusters,
                                .deadline_ns = clock_monotonic_ns() + PATIENCE_NS};
    int64_t now_ns = clock_unix_ns(), from_ns = 0, to_ns = 0;
    char own[16];

    if ((input->from_text && when_parse(input->from_text, now_ns, &from_ns, err)) ||
        (input->to_text && when_parse(input->to_text, now_ns, &to_ns, err))) {
        return -1;
    }
    query.from_s = from_ns / NS_PER_S;
    query.to_s = to_ns / NS_PER_S;
    if (!query.users && !query.jobs) {
        snprintf(own, sizeof own, "%u", (unsigned)geteuid());
        query.users = own;
    }
    return sacct_read(&query, report_slurm_take, slurm, err);
}

static void report_slurm_row(const struct sacct_job *job, struct report_row *row)
{
    *row = report_row_empty();
    row->cluster = job->cluster;
    row->user = job->user;
    row->account = job->account;
    row->partition = job->partition;
    row->qos = job->qos;
    row->job_name = job->job_name;
    row->state = job->state;
    snprintf(row->job_id, sizeof row->job_id, "%.*s", (int)sizeof row->job_id - 1, job->job_id);
    snprintf(row->exit, sizeof row->exit, "%.*s", (int)sizeof row->exit - 1, job->exit);
    row->start_ns = job->start_s * NS_PER_S;
    row->end_ns = job->end_s * NS_PER_S;
    row->jobs = 1;
    row->nodes = job->nodes;
    row->elapsed_s = job->elapsed_s;
    row->energy_j = job->energy_j;
    row->uncertainty_j = job->uncertainty_j;
    row->energy_per_node_j = job->nodes > 0 ? job->energy_j / job->nodes : NAN;
    row->power_w = job->mean_w;
    row->measured_pct = job->measured_pct;
    row->incomplete = job->incomplete;
    row->complete = job->incomplete == 0;
}

static int report_slurm_compare(const struct report_ledger *ledger, const struct sacct_job *one,
                                const struct sacct_job *other)
{
    const char *const texts[REPORT_GROUPS][2] = {
        [REPORT_GROUP_USER] = {one->user, other->user},
        [REPORT_GROUP_ACCOUNT] = {one->account, other->account},
        [REPORT_GROUP_PARTITION] = {one->partition, other->partition},
        [REPORT_GROUP_QOS] = {one->qos, other->qos},
        [REPORT_GROUP_CLUSTER] = {one->cluster, other->cluster},
        [REPORT_GROUP_DAY] = {"", ""},
        [REPORT_GROUP_REGION] = {"", ""}};
    int order = 0;

    for (size_t i = 0; i < ledger->group_count && order == 0; i++) {
        order = strcmp(texts[ledger->groups[i]][0], texts[ledger->groups[i]][1]);
    }
    return order;
}

static const char *report_slurm_same(const char *one, const char *other)
{
    return !one || strcmp(one, other) == 0 ? other : "";
}

/* Sums over a row that it does not show. A value that one job lacks is unknown of all. */
static void report_slurm_weigh(struct report_slurm_sum *sum, const struct sacct_job *job)
{
    double node_s = job->nodes * (isfinite(job->recorded_s) ? job->recorded_s : job->elapsed_s);

    sum->busy_s += job->mean_w > 0 ? job->energy_j / job->mean_w : 0;
    sum->node_s += node_s;
    sum->measured_s += node_s * job->measured_pct;
}

static void report_slurm_add(struct report_slurm_sum *sum, const struct sacct_job *job)
{
    struct report_row *row = &sum->row;
    struct report_row more;

    report_slurm_row(job, &more);
    row->cluster = report_slurm_same(row->cluster, job->cluster);
    row->user = report_slurm_same(row->user, job->user);
    row->account = report_slurm_same(row->account, job->account);
    row->partition = report_slurm_same(row->partition, job->partition);
    row->qos = report_slurm_same(row->qos, job->qos);
    row->job_name = report_slurm_same(row->job_name, job->job_name);
    report_slurm_weigh(sum, job);
    row->start_ns = more.start_ns < row->start_ns ? more.start_ns : row->start_ns;
    row->end_ns = more.end_ns > row->end_ns ? more.end_ns : row->end_ns;
    row->jobs++;
    row->elapsed_s += more.elapsed_s;
    row->energy_j += more.energy_j;
    row->uncertainty_j += more.uncertainty_j;
    row->power_w = sum->busy_s > 0 ? row->energy_j / sum->busy_s : NAN;
    row->measured_pct = sum->node_s > 0 ? sum->measured_s / sum->node_s : NAN;
    row->incomplete += more.incomplete;
    row->complete = row->incomplete == 0;
}

static int report_slurm_sum(struct report_slurm *slurm)
{
    slurm->rows = calloc(slurm->count + 1, sizeof *slurm->rows);
    if (!slurm->rows) {
        return -1;
    }
    for (size_t i = 0; i < slurm->count; i++) {
        const struct sacct_job *job = &slurm->jobs[i];
        struct report_slurm_sum *sum = NULL;

        for (size_t k = 0; k < slurm->row_count && !sum && slurm->ledger->group_count > 0; k++) {
            if (report_slurm_compare(slurm->ledger, slurm->rows[k].first, job) == 0) {
                sum = &slurm->rows[k];
            }
        }
        if (sum) {
            report_slurm_add(sum, job);
        } else {
            sum = &slurm->rows[slurm->row_count++];
            sum->first = job;
            report_slurm_row(job, &sum->row);
            report_slurm_weigh(sum, job);
            if (slurm->ledger->group_count > 0) {
                /* Jobs of a group share nodes. */
                sum->row.state = "";
                *sum->row.job_id = *sum->row.exit = '\0';
                sum->row.nodes = sum->row.energy_per_node_j = NAN;
            }
        }
    }
    return 0;
}

/* qsort() has no context. */
static const struct report_field *sort_field;
static const struct report_ledger *sort_ledger;

static int compare_groups(const void *left, const void *right)
{
    const struct report_slurm_sum *one = left, *other = right;

    return report_slurm_compare(sort_ledger, one->first, other->first);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct report_slurm_sum *one = left, *other = right;
    double a = report_field_number(sort_field, &one->row);
    double b = report_field_number(sort_field, &other->row);

    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

static int report_slurm_rows(struct report_slurm *slurm, const struct report_field *sort)
{
    if (report_slurm_sum(slurm)) {
        return -1;
    }
    sort_field = sort;
    sort_ledger = slurm->ledger;
    if (sort || slurm->ledger->group_count > 0) {
        qsort(slurm->rows, slurm->row_count, sizeof *slurm->rows,
              sort ? compare_numbers : compare_groups);
    }
    return 0;
}

/* --- the command ---------------------------------------------------------------------------- */

#define COMMAND "report"
#define NAMES_SIZE 1024
#define CURVES_MAX (32 << 20) /* bytes */
#define NAMED_CURVES_MAX (64 << 20)

/* Remarks for people, printed after the table. */
struct remarks {
    struct namelist texts; /* the first REPORT_REMARKS_MAX */
    size_t count;
};

struct report {
    struct report_input input;
    struct report_printer printer;
    struct report_ledger ledger;
    struct rates rates;
    struct config config;
    struct remarks remarks;
    const char *format_text;         /* NULL: not given */
    const struct report_field *sort; /* NULL: sort by name */
    size_t top;                      /* 0: all */
    bool help_format;
    bool unsortable; /* no field of --sort */
};

/* --- options -------------------------------------------------------------------------------- */

static void list_fields(bool numbers_only)
{
    char names[NAMES_SIZE];

    report_fields_list(numbers_only, names, sizeof names);
    fprintf(stderr, "valid are: %s\n", names);
}

static int set_top(void *target, const char *text, struct apapi_error *err)
{
    struct report *report = target;

    report->top = positive_number(text, UINT32_MAX);
    return report->top ? 0 : apapi_fail(err, EINVAL, "--top=%.40s: not a number from 1 on", text);
}

static int set_by(void *report, const char *text, struct apapi_error *err)
{
    return report_by_parse(text ? text : "job", &((struct report *)report)->ledger, err);
}

static int set_states(void *report, const char *text, struct apapi_error *err)
{
    return report_states_parse(text, &((struct report *)report)->ledger.states, err);
}

static int report_command_set_energy(void *target, const char *text, struct apapi_error *err)
{
    struct report *report = target;

    if (strcmp(text, "share") != 0 && strcmp(text, "node") != 0) {
        return apapi_fail(err, EINVAL, "--energy=%.40s: valid are node and share", text);
    }
    report->ledger.store.shares = report->printer.shares = strcmp(text, "share") == 0;
    return 0;
}

static int report_command_set_units(void *report, const char *text, struct apapi_error *err)
{
    return report_unit_parse(text, &((struct report *)report)->printer.format.unit, err);
}

static int report_command_set_sort(void *target, const char *text, struct apapi_error *err)
{
    struct report *report = target;

    report->sort = report_field_sortable(text, err);
    report->unsortable = !report->sort;
    return report->sort ? 0 : -1;
}

static const struct option_row rows[] = {
    {'j', "jobs", "=JOB[.STEP],...", "17 (also an array), 17.batch, 17_3, 17+1",
     TO_TEXT(struct report, input.jobs)},
    {OPTION_ROWS_OF(struct report, input, input_filter_rows)},
    {'s', "state", "=STATE,...", "jobs whose tasks completed (CD) or failed (F)",
     TO_CALL(set_states)},
    {0, "by", "=WHAT",
     "job, step, node, or a list of user, account, partition, qos,\n"
     "cluster, day and region",
     TO_CALL(set_by)},
    {'X', "allocations", NULL, "the same as --by=job", TO_CALL(set_by)},
    {'o', "format", "=FIELD[%WIDTH],...", "columns; --helpformat lists them",
     TO_TEXT(struct report, format_text)},
    {0, "helpformat", NULL, NULL, TO_FLAG(struct report, help_format)},
    {0, "energy", "=WHAT",
     "node (default): energy of the jobs' nodes; share: what each job was\n"
     "given of it, where several ran",
     TO_CALL(report_command_set_energy)},
    {0, "units", "=UNIT", "unit of energies (JSON: always J): auto, J, kJ, Wh or kWh",
     TO_CALL(report_command_set_units)},
    {0, "sort", "=FIELD", "sort by this field, greatest first", TO_CALL(report_command_set_sort)},
    {0, "top", "=N", "the first N rows; sorted by energy without --sort", TO_CALL(set_top)},
    {0, "json", NULL, ", ", TO_VALUE(struct report, printer.form, REPORT_JSON)},
    {0, "csv", NULL, ", ", TO_VALUE(struct report, printer.form, REPORT_CSV)},
    {'P', "parsable2", NULL, ", ", TO_VALUE(struct report, printer.form, REPORT_PARSABLE2)},
    {'p', "parsable", NULL, "for programs", TO_VALUE(struct report, printer.form, REPORT_PARSABLE)},
    {'n', "noheader", NULL, "no line of titles", TO_FLAG(struct report, printer.no_header)},
    {OPTION_ROWS_OF(struct report, input, input_source_rows)},
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

static int help_format(void)
{
    const struct report_field *field;

    for (size_t i = 0; (field = report_field_at(i)); i++) {
        printf("%-14s %s\n", field->name, field->help);
    }
    return command_finish(COMMAND, EXIT_SUCCESS);
}

/* --- what follows from them ----------------------------------------------------------------- */

static bool has_rate(const double hours[RATES_HOURS])
{
    return !isnan(hours[0]);
}

static int report_command_set_format(struct report *report, struct apapi_error *err)
{
    struct report_printer *printer = &report->printer;
    bool sums = report->ledger.by != REPORT_BY_REGION;
    char fields[REPORT_BY_SIZE + 80], all[NAMES_SIZE];

    report_by_text(&report->ledger, printer->by, sizeof printer->by);
    printer->format.currency = report->rates.currency;
    if (report->format_text) {
        return report_format_parse(report->format_text, &printer->format, err);
    }
    if (printer->form == REPORT_JSON) {
        report_fields_list(false, all, sizeof all);
    } else {
        report_by_format(&report->ledger, fields, sizeof fields);
        snprintf(all, sizeof all, "%s%s%s", fields,
                 sums && has_rate(report->rates.co2_g_per_kwh) ? ",co2" : "",
                 sums && has_rate(report->rates.price_per_kwh) ? ",cost" : "");
    }
    return report_format_parse(all, &printer->format, err);
}

/* Other keys of apapi.conf are not used here; `apapi config --check` checks them. */
static int report_command_prepare(struct report *report)
{
    struct apapi_error err;
    int status;
    struct report_ledger *ledger = &report->ledger;

    config_read(&report->config, config_path(), NULL);
    if (rates_read(&report->config, &report->rates, &err)) {
        return command_fail(COMMAND, err.text);
    }
    status = report_input_complete(&report->input, &report->config);
    if (status) {
        return status;
    }
    if (report->ledger.states && report->ledger.by == REPORT_BY_NODE) {
        return command_refuse(COMMAND, "--state is of jobs: not with --by=node");
    }
    if (report->ledger.store.shares && report->ledger.by == REPORT_BY_REGION) {
        return command_refuse(COMMAND,
                              "--energy=share: regions have no share; not with --by=region");
    }
    /* As in sacct, a job that is named is found whenever it ran. */
    if (!report->input.from_text && !report->input.to_text && !report->input.jobs &&
        report->input.file_count == 0) {
        report->input.from_text = "today";
    }
    if (report_command_set_format(report, &err)) {
        bool unknown = errno != ERANGE;

        command_refuse(COMMAND, err.text);
        if (unknown) {
            list_fields(false);
        }
        return USAGE_ERROR;
    }
    /* Of all records together, curves take no more room; without -j there may be millions. */
    ledger->store.curve_max = report->input.jobs ? NAMED_CURVES_MAX : CURVES_MAX;
    ledger->store.curveless = ledger->by == REPORT_BY_REGION;
    ledger->store.mixed = ledger->by == REPORT_BY_NODE;
    ledger->store.lists = ledger->by != REPORT_BY_NODE && ledger->by != REPORT_BY_DAY;
    return 0;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void note_remark(const char *text, void *context)
{
    struct remarks *remarks = context;

    if (remarks->count++ < REPORT_REMARKS_MAX) {
        namelist_add(&remarks->texts, text);
    }
}

/* Energy counted more than once in sums of rows, or in rows of users. */
static void put_shared(const struct report *report)
{
    char energy[UNITS_SIZE];

    if (report->printer.form == REPORT_TABLE && report->printer.shared_j > 0) {
        report_energy_text(energy, sizeof energy, report->printer.shared_j, NAN,
                           report->printer.format.unit);
        fprintf(stderr,
                "apapi " COMMAND
                ": nodes shared by jobs: %s counted more than once, as each job has "
                "the whole node's; --by node counts it once\n",
                energy);
    }
}

static int report_command_print_rows(struct report *report, const uint32_t *order, size_t count)
{
    struct report_view view = {.rates = &report->rates,
                               .remark = report->printer.form == REPORT_TABLE ? note_remark : NULL,
                               .context = &report->remarks};
    struct report_row row;
    int result = 0;

    for (size_t i = 0; i < report->printer.format.count; i++) {
        view.nodelists |= report->printer.format.columns[i].field->kind == REPORT_LIST;
    }
    report->printer.fit.width = terminal_width();
    report_print_begin(&report->printer);
    for (size_t i = 0; i < count && result == 0 && !ferror(stdout); i++) {
        result = report_ledger_sum(&report->ledger, order[i], &view, &row);
        if (result == 0) {
            result = report_print_row(&report->printer, &row);
            report_row_free(&row);
        }
    }
    report_print_end(&report->printer);
    return result;
}

static int print_report(struct report *report)
{
    size_t count = 0;
    uint32_t *order = report_ledger_chain(&report->ledger) || report_regions_chain(&report->ledger)
                          ? NULL
                          : report_ledger_order(&report->ledger, &count);
    int result = order ? 0 : -1;

    if (order && count == 0) {
        free(order);
        return command_fail(COMMAND, report->ledger.store.piece_count > 0 &&
                                             report->ledger.by == REPORT_BY_REGION
                                         ? "no region in the records of these jobs"
                                         : "no job found");
    }
    if (result == 0 && report->sort) {
        result = report_sort(&report->ledger, report->sort, &report->rates, order, count);
    }
    if (result == 0) {
        result = report_ledger_shared(&report->ledger, &report->printer.shared_j);
    }
    if (result == 0) {
        result = report_command_print_rows(
            report, order, report->top && report->top < count ? report->top : count);
    }
    free(order);
    fflush(stdout);
    for (size_t i = 0; i < report->remarks.texts.count; i++) {
        command_fail(COMMAND, report->remarks.texts.names[i]);
    }
    namelist_free(&report->remarks.texts);
    if (report->remarks.count > REPORT_REMARKS_MAX) {
        fprintf(stderr, "apapi " COMMAND ": and %zu more; see the fields incomplete and missing\n",
                report->remarks.count - REPORT_REMARKS_MAX);
    }
    put_shared(report);
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

static int report_command_take_record(const struct apapi_record *record, const char *line,
                                      size_t size, void *ledger)
{
    (void)line;
    (void)size;
    return report_ledger_add(ledger, record) || report_regions_add(ledger, record) ? -1 : 0;
}

/* --- from Slurm's accounting ----------------------------------------------------------------- */

/* It has totals of jobs, and no more. */
static bool slurm_may_help(const struct report *report)
{
    const struct report_input *input = &report->input;

    return own_is_all(input, &report->config) && !report->ledger.store.shares && !input->nodes &&
           (report->ledger.by == REPORT_BY_JOB || report->ledger.by == REPORT_BY_GROUP) &&
           !(input->jobs && strchr(input->jobs, '.'));
}

static int print_slurm(struct report *report, const struct report_slurm *slurm)
{
    struct report_printer *printer = &report->printer;
    size_t count = report->top && report->top < slurm->row_count ? report->top : slurm->row_count;
    int result = 0;

    printer->fit.width = terminal_width();
    report_print_begin(printer);
    for (size_t i = 0; i < count && result == 0; i++) {
        result = report_print_row(printer, &slurm->rows[i].row);
    }
    report_print_end(printer);
    if (printer->form == REPORT_TABLE) {
        fflush(stdout);
        command_fail(COMMAND, "from Slurm's accounting, which has totals of jobs alone");
    }
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

/* @return the exit status; -1: it knows no energy of the wanted jobs. */
static int report_from_slurm(struct report *report)
{
    struct report_slurm slurm = {.input = &report->input, .ledger = &report->ledger};
    struct apapi_error err = {""};
    int status = -1;

    if (report_slurm_read(&slurm, &err) == 0 && slurm.count > 0) {
        status = report_slurm_rows(&slurm, report->sort) ? command_fail(COMMAND, "no memory")
                                                         : print_slurm(report, &slurm);
    } else if (report->input.verbose && *err.text) {
        command_fail(COMMAND, err.text);
    }
    free(slurm.rows);
    free(slurm.jobs);
    return status;
}

static int report_command_read(struct report *report, size_t *left_out)
{
    return report_input_read(&report->input, report_command_take_record, &report->ledger, left_out);
}

static int report_command_run(struct report *report)
{
    size_t left_out = 0;
    int status = report_command_prepare(report);

    if (status) {
        return status;
    }
    if (report->top && !report->sort) {
        report->sort = report_field_sortable("energy", NULL);
    }
    if (report->input.nodes && report_ledger_ask(&report->ledger, report->input.nodes)) {
        return command_fail(COMMAND, "no memory");
    }
    report->input.quiet = slurm_may_help(report);
    status = report_command_read(report, &left_out);
    if (status && report->input.quiet) {
        int slurm = status == EXIT_FAILURE ? report_from_slurm(report) : -1;

        if (slurm >= 0) {
            return slurm;
        }
        report->input.quiet = 0; /* say why there is nothing */
        status = report_command_read(report, &left_out);
    }
    if (status) {
        return status;
    }
    status = print_report(report);
    return report->input.strict && left_out > 0 ? EXIT_FAILURE : status;
}

int report_command(int argc, char **argv)
{
    static struct report report = {.input.command = COMMAND};
    int status = command_options(&table, argc, argv, &report);

    if (report.unsortable) {
        list_fields(true);
    }
    if (status >= 0) {
        return status;
    }
    if (report.help_format) {
        return help_format();
    }
    report.input.files = argv + optind;
    report.input.file_count = (size_t)(argc - optind);
    config_defaults(&report.config);
    status = report_command_run(&report);
    report_ledger_free(&report.ledger);
    config_clear(&report.config);
    return status;
}
