/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi report: what jobs have used, from their records, see apapi-report(1). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/positive.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/records/input.h"
#include "cli/records/input_options.h"
#include "cli/report/report_by.h"
#include "cli/report/report_print.h"
#include "cli/totals/job_state.h"
#include "cli/totals/order.h"
#include "cli/totals/sort.h"

#define COMMAND "report"
#define NAMES_SIZE 1024

static const char usage[] =
    "usage: apapi report [OPTION]... [FILE]...\n"
    "What jobs have used, from the accounting folder, FILEs of records (-: a pipe) or --db.\n"
    "Without -j or FILE: of today, until now.\n"
    "  -j, --jobs=JOB[.STEP],...     17 (also an array), 17.batch, 17_3, 17+1\n"
    "  -u, --user=USER|UID,...  -A, --accounts=ACCOUNT,...  -r, --partition=PARTITION,...\n"
    "  -M, --clusters=CLUSTER,...    --name=JOBNAME,...\n"
    "  -N, --nodelist=NODES          records of these nodes only, as n[1-4]\n"
    "  -s, --state=STATE,...         jobs that are completed (CD) or failed (F), by their tasks\n"
    "  -S, --starttime=TIME, -E, --endtime=TIME   records that ended in this time;\n"
    "                                TIME is 2026-11-21[T11:20[:30]][Z], 11/21, 11:20, today,\n"
    "                                yesterday, now-1hour, 90m, 7d, as in sacct\n"
    "      --by=WHAT                 job, step, node, or a list of user, account, partition, qos,\n"
    "                                cluster and day\n"
    "  -X, --allocations             the same as --by=job\n"
    "  -o, --format=FIELD[%WIDTH],...   columns; --helpformat names them\n"
    "      --units=UNIT              auto, J, kJ, Wh or kWh, of energies but in JSON\n"
    "      --sort=FIELD              greatest first\n"
    "      --top=N                   N rows; sorted by energy unless --sort says another field\n"
    "      --json, --csv, -P, --parsable2, -p, --parsable   for programs\n"
    "  -n, --noheader                no line of titles\n"
    "      --acct-dir=DIR            accounting folder, instead of acct_dir in apapi.conf\n"
    "      --db=URL                  the database that apapi import has filled, instead\n"
    "      --strict                  exit status 1 if a line is skipped\n"
    "  -v, --verbose                 which lines are skipped, and why\n"
    "  -h, --help, -V, --version\n"
    "Exit status: 0 done, 1 no job found, or failure, 2 wrong usage.\n";

/* Remarks for people, printed after the table. */
struct remarks {
    char *texts[REPORT_REMARKS_MAX];
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
};

/* --- options -------------------------------------------------------------------------------- */

static int refuse(const struct apapi_error *err)
{
    return command_refuse(COMMAND, err->text);
}

/* Report an unknown field, with all known ones. */
static int refuse_field(const struct apapi_error *err, bool numbers_only)
{
    char names[NAMES_SIZE];

    refuse(err);
    report_fields_list(numbers_only, names, sizeof names);
    fprintf(stderr, "valid are: %s\n", names);
    return USAGE_ERROR;
}

static int set_top(struct report *report, const char *text, struct apapi_error *err)
{
    report->top = positive_number(text, UINT32_MAX);
    return report->top ? 0 : apapi_fail(err, EINVAL, "--top=%.40s: not a number from 1 on", text);
}

enum {
    OPTION_BY = 256,
    OPTION_CSV,
    OPTION_HELP_FORMAT,
    OPTION_JSON,
    OPTION_SORT,
    OPTION_TOP,
    OPTION_UNITS
};

#define LETTERS INPUT_LETTERS "s:Xo:Ppnh"
static const struct option options[] = {INPUT_OPTIONS,
                                        {"state", required_argument, NULL, 's'},
                                        {"by", required_argument, NULL, OPTION_BY},
                                        {"allocations", no_argument, NULL, 'X'},
                                        {"format", required_argument, NULL, 'o'},
                                        {"helpformat", no_argument, NULL, OPTION_HELP_FORMAT},
                                        {"units", required_argument, NULL, OPTION_UNITS},
                                        {"sort", required_argument, NULL, OPTION_SORT},
                                        {"top", required_argument, NULL, OPTION_TOP},
                                        {"json", no_argument, NULL, OPTION_JSON},
                                        {"csv", no_argument, NULL, OPTION_CSV},
                                        {"parsable2", no_argument, NULL, 'P'},
                                        {"parsable", no_argument, NULL, 'p'},
                                        {"noheader", no_argument, NULL, 'n'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

/* Options without a value. @return whether it is one of them. */
static bool take_flag(struct report *report, int letter)
{
    switch (letter) {
    case 'n':
        report->printer.no_header = true;
        return true;
    case 'P':
    case 'p':
        report->printer.form = letter == 'P' ? REPORT_PARSABLE2 : REPORT_PARSABLE;
        return true;
    case 'X':
        return report_by_parse("job", &report->ledger, NULL) == 0;
    case OPTION_CSV:
        report->printer.form = REPORT_CSV;
        return true;
    case OPTION_JSON:
        report->printer.form = REPORT_JSON;
        return true;
    default:
        return false;
    }
}

static int take_value(struct report *report, int letter)
{
    struct apapi_error err;

    switch (letter) {
    case OPTION_BY:
        return report_by_parse(optarg, &report->ledger, &err) ? refuse(&err) : 0;
    case 's':
        return report_states_parse(optarg, &report->ledger.states, &err) ? refuse(&err) : 0;
    case 'o':
        report->format_text = optarg;
        return 0;
    case OPTION_TOP:
        return set_top(report, optarg, &err) ? refuse(&err) : 0;
    case OPTION_UNITS:
        return report_unit_parse(optarg, &report->printer.format.unit, &err) ? refuse(&err) : 0;
    case OPTION_SORT:
        report->sort = report_field_sortable(optarg, &err);
        return report->sort ? 0 : refuse_field(&err, true);
    default:
        return USAGE_ERROR;
    }
}

static int help_format(void)
{
    const struct report_field *field;

    for (size_t i = 0; (field = report_field_at(i)); i++) {
        printf("%-14s %s\n", field->name, field->help);
    }
    return command_finish(COMMAND, EXIT_SUCCESS);
}

/* --- what follows from them ----------------------------------------------------------------- */

/* As in sacct, a job that is named is found whenever it ran. */
static void set_times(struct report_input *input)
{
    if (!input->from_text && !input->to_text && !input->jobs && input->file_count == 0) {
        input->from_text = "today";
    }
}

static bool has_rate(const double hours[RATES_HOURS])
{
    return !isnan(hours[0]);
}

static int set_format(struct report *report, struct apapi_error *err)
{
    struct report_printer *printer = &report->printer;
    bool costs = has_rate(report->rates.co2_g_per_kwh) || has_rate(report->rates.price_per_kwh);
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
        snprintf(all, sizeof all, "%s%s", fields, costs ? ",co2,cost" : "");
    }
    return report_format_parse(all, &printer->format, err);
}

static bool is_extreme(const struct report_field *field)
{
    return field->offset == offsetof(struct report_row, max_power_w);
}

/*
 * Power over time is kept for named jobs. For extremes and known times of domains, a database needs
 * a query for each record.
 */
static void choose_parts(struct report *report)
{
    const struct report_format *format = &report->printer.format;
    struct report_input *input = &report->input;

    report->ledger.keep_timelines = input->jobs != NULL;
    input->timelines = report->ledger.keep_timelines && report->ledger.by != REPORT_BY_DAY;
    input->powers = report->ledger.keep_timelines || (report->sort && is_extreme(report->sort));
    for (size_t i = 0; i < format->count && !input->powers; i++) {
        input->powers = is_extreme(format->columns[i].field);
    }
}

/* Other keys of apapi.conf are not used here; `apapi config --check` checks them. */
static int prepare(struct report *report)
{
    struct apapi_error err;

    config_read(&report->config, config_path(), NULL);
    if (rates_read(&report->config, &report->rates, &err)) {
        return command_fail(COMMAND, err.text);
    }
    if (report_input_complete(&report->input, report->config.acct_dir)) {
        return USAGE_ERROR;
    }
    if (report->ledger.states && report->ledger.by == REPORT_BY_NODE) {
        return command_refuse(COMMAND, "--state is of jobs: not with --by=node");
    }
    set_times(&report->input);
    if (set_format(report, &err)) {
        return errno == ERANGE ? refuse(&err) : refuse_field(&err, false);
    }
    choose_parts(report);
    return 0;
}

/* --- rows ----------------------------------------------------------------------------------- */

static void note_remark(const char *text, void *context)
{
    struct remarks *remarks = context;

    if (remarks->count < REPORT_REMARKS_MAX) {
        remarks->texts[remarks->count] = strdup(text);
    }
    remarks->count++;
}

static void put_remarks(struct remarks *remarks)
{
    fflush(stdout);
    for (size_t i = 0; i < remarks->count && i < REPORT_REMARKS_MAX; i++) {
        if (remarks->texts[i]) {
            command_fail(COMMAND, remarks->texts[i]);
        }
        free(remarks->texts[i]);
    }
    if (remarks->count > REPORT_REMARKS_MAX) {
        fprintf(stderr, "apapi " COMMAND ": and %zu more; see the fields incomplete and missing\n",
                remarks->count - REPORT_REMARKS_MAX);
    }
}

/* Energy counted more than once in sums of rows, or in rows of users. */
static void put_shared(const struct report *report)
{
    char energy[UNITS_SIZE];

    if (report->printer.form == REPORT_TABLE && report->printer.shared_j > 0) {
        report_energy_text(energy, sizeof energy, report->printer.shared_j,
                           report->printer.format.unit);
        fprintf(stderr,
                "apapi " COMMAND
                ": nodes shared by jobs: %s counted more than once, as each job has "
                "the whole node's; --by node counts it once\n",
                energy);
    }
}

static struct report_view make_view(struct report *report)
{
    struct report_view view = {.rates = &report->rates,
                               .remark = report->printer.form == REPORT_TABLE ? note_remark : NULL,
                               .context = &report->remarks};

    for (size_t i = 0; i < report->printer.format.count; i++) {
        view.nodelists =
            view.nodelists || report->printer.format.columns[i].field->kind == REPORT_LIST;
    }
    return view;
}

static int print_rows(struct report *report, const uint32_t *order, size_t count)
{
    const struct report_view view = make_view(report);
    struct report_row row;
    int result = 0;

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
    uint32_t *order =
        report_ledger_chain(&report->ledger) ? NULL : report_ledger_order(&report->ledger, &count);
    int result = order ? 0 : -1;

    if (order && count == 0) {
        free(order);
        return command_fail(COMMAND, "no job found");
    }
    if (result == 0 && report->sort) {
        result = report_sort(&report->ledger, report->sort, &report->rates, order, count);
    }
    if (result == 0) {
        result = report_ledger_shared(&report->ledger, &report->printer.shared_j);
    }
    if (result == 0) {
        result =
            print_rows(report, order, report->top && report->top < count ? report->top : count);
    }
    free(order);
    put_remarks(&report->remarks);
    put_shared(report);
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

static int take_record(const struct apapi_record *record, const char *line, size_t size,
                       void *ledger)
{
    (void)line;
    (void)size;
    return report_ledger_add(ledger, record);
}

static int run(struct report *report)
{
    size_t left_out = 0;
    int status = prepare(report);

    if (status) {
        return status;
    }
    if (report->top && !report->sort) {
        report->sort = report_field_sortable("energy", NULL);
    }
    if (report->input.nodes && report_ledger_ask(&report->ledger, report->input.nodes)) {
        return command_fail(COMMAND, "no memory");
    }
    status = report_input_read(&report->input, take_record, &report->ledger, &left_out);
    if (status) {
        return status;
    }
    status = print_report(report);
    return report->input.strict && left_out > 0 ? EXIT_FAILURE : status;
}

int report_command(int argc, char **argv)
{
    static struct report report = {.input.command = COMMAND};
    int letter, status;

    while ((letter = command_option(argc, argv, LETTERS, options)) != -1) {
        if (letter == 'h') {
            fputs(usage, stdout);
            return command_finish(COMMAND, EXIT_SUCCESS);
        }
        if (letter == OPTION_HELP_FORMAT) {
            return help_format();
        }
        if (input_option(&report.input, letter) || take_flag(&report, letter)) {
            continue;
        }
        status = take_value(&report, letter);
        if (status) {
            return status;
        }
    }
    report.input.files = argv + optind;
    report.input.file_count = (size_t)(argc - optind);
    config_defaults(&report.config);
    status = run(&report);
    report_ledger_free(&report.ledger);
    config_clear(&report.config);
    return status;
}
