/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi audit: what nodes have used, and what became of it, see apapi-audit(1). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/audit/audit.h"
#include "cli/audit/audit_result.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "cli/when.h"
#include "config/config.h"
#include "config/values.h"
#include "index/index.h"
#include "record/hour.h"

#define COMMAND "audit"
#define DAY_NS (86400 * NS_PER_S)

enum audit_form { AUDIT_TABLE, AUDIT_JSON, AUDIT_CSV };

struct audit {
    struct report_input input;
    const char *from_text, *to_text;
    int form;   /* enum audit_form */
    size_t top; /* 0: all */
    bool no_header;
    struct audit_ledger ledger;
    struct config config;
};

static int audit_set_top(void *target, const char *text, struct apapi_error *err)
{
    struct audit *audit = target;

    audit->top = positive_number(text, UINT32_MAX);
    return audit->top ? 0 : apapi_fail(err, EINVAL, "--top=%.40s: not a number from 1 on", text);
}

static const struct option_row rows[] = {
    {'S', "starttime", "=TIME", ", ", TO_TEXT(struct audit, from_text)},
    {'E', "endtime", "=TIME", "days (UTC) from the first to the second time",
     TO_TEXT(struct audit, to_text)},
    {'N', "nodelist", "=NODES", "only these nodes", TO_TEXT(struct audit, input.nodes)},
    {'M', "clusters", "=CLUSTER,...", "only these clusters", TO_TEXT(struct audit, input.clusters)},
    {0, "top", "=N", "the first N rows", TO_CALL(audit_set_top)},
    {0, "json", NULL, ", ", TO_VALUE(struct audit, form, AUDIT_JSON)},
    {0, "csv", NULL, "for programs", TO_VALUE(struct audit, form, AUDIT_CSV)},
    {'n', "noheader", NULL, "no line of titles (CSV)", TO_FLAG(struct audit, no_header)},
    {OPTION_ROWS_OF(struct audit, input, input_source_rows)},
    {0}};

static const struct option_table table = {
    .program = "apapi " COMMAND,
    .head = "usage: apapi audit [OPTION]...\n"
            "Compare, for each node and day, what its meters saw with the shares of its steps,\n"
            "idle energy and what is nobody's; name what is missing, the worst first. Without\n"
            "-S: yesterday and today.\n",
    .foot = "TIME is written " WHEN_FORMS ".\n"
            "Exit status: 0 done, 1 no node found, or failure, 2 wrong usage.\n",
    .column = 32,
    .rows = rows};

/* --- input ---------------------------------------------------------------------------------- */

static int audit_take_hour(const struct hour *hour, void *context)
{
    struct audit *audit = context;
    const char *clusters = audit->input.clusters;

    if (clusters && !(*hour->cluster && config_names_have(clusters, hour->cluster))) {
        return 0;
    }
    return audit_add_hour(&audit->ledger, hour);
}

static int audit_take_record(const struct apapi_record *record, const char *line, size_t size,
                             void *context)
{
    (void)line;
    (void)size;
    return audit_add_record(&((struct audit *)context)->ledger, record);
}

static void audit_note_problem(const struct apapi_scan_problem *problem, void *context)
{
    if (((const struct audit *)context)->input.verbose) {
        command_note_skipped(COMMAND, problem);
    }
}

static int audit_fail_hours(const struct audit *audit, int code, const struct apapi_error *err)
{
    if (code == EACCES && !audit->input.db) {
        return command_fail_folder(COMMAND, audit->input.dir);
    }
    return code == EINVAL ? command_refuse(COMMAND, err->text)
                          : command_fail(COMMAND, *err->text ? err->text : strerror(code));
}

/* @param left_out  lines and files that could not be read */
static int audit_read_hours(struct audit *audit, size_t *left_out)
{
    const struct apapi_scan_filter filter = {.from_unix_ns = audit->ledger.from_ns,
                                             .to_unix_ns = audit->ledger.to_ns,
                                             .nodes = audit->input.nodes};
    const struct hours_sink sink = {
        .hour = audit_take_hour, .problem = audit_note_problem, .context = audit};
    struct apapi_scan_counts counts;
    struct apapi_error err = {""};

    if (audit->input.db) {
        return db_read_hours(audit->input.db, &filter, audit_take_hour, audit, &err)
                   ? audit_fail_hours(audit, errno, &err)
                   : EXIT_SUCCESS;
    }
    if (hours_read(audit->input.dir, &filter, &sink, &counts, &err)) {
        return audit_fail_hours(audit, errno, &err);
    }
    *left_out = counts.skipped + counts.unreadable;
    command_count_skipped(COMMAND, *left_out, audit->input.verbose);
    return EXIT_SUCCESS;
}

/* Records of steps that ran in these days may have ended at any time after them. */
static int audit_read_records(struct audit *audit, size_t *left_out)
{
    char from[TIMESTAMP_SIZE];
    size_t more = 0;
    int status;

    timestamp_format(from, sizeof from, audit->ledger.from_ns);
    from[strlen("2026-11-21T00:00:00")] = 'Z';
    from[strlen("2026-11-21T00:00:00Z")] = '\0';
    audit->input.from_text = from;
    status = report_input_read(&audit->input, audit_take_record, audit, &more);
    audit->input.from_text = NULL;
    *left_out += more;
    return status;
}

/* --- time ----------------------------------------------------------------------------------- */

static int64_t audit_day_begin(int64_t unix_ns)
{
    return unix_ns - unix_ns % DAY_NS;
}

static int audit_set_times(struct audit *audit)
{
    struct audit_ledger *ledger = &audit->ledger;
    struct apapi_error err;

    ledger->now_ns = clock_unix_ns();
    ledger->from_ns = ledger->now_ns - DAY_NS;
    ledger->to_ns = ledger->now_ns;
    if ((audit->from_text &&
         when_parse(audit->from_text, ledger->now_ns, &ledger->from_ns, &err)) ||
        (audit->to_text && when_parse(audit->to_text, ledger->now_ns, &ledger->to_ns, &err))) {
        return command_refuse(COMMAND, err.text);
    }
    if (ledger->from_ns >= ledger->to_ns) {
        return command_refuse(COMMAND, "-S is not before -E");
    }
    ledger->from_ns = audit_day_begin(ledger->from_ns < 0 ? 0 : ledger->from_ns);
    ledger->to_ns = audit_day_begin(ledger->to_ns - 1) + DAY_NS;
    return EXIT_SUCCESS;
}

/* --- output --------------------------------------------------------------------------------- */

static int audit_print(struct audit *audit)
{
    struct audit_page page = {.ledger = &audit->ledger, .no_header = audit->no_header};
    uint32_t *order = audit_order(&audit->ledger);
    int result = -1;

    if (order) {
        page.order = order;
        page.count = audit->ledger.row_count;
        page.count = audit->top && audit->top < page.count ? audit->top : page.count;
        result = audit->form == AUDIT_JSON ? audit_print_json(&page)
                                           : audit_print_table(&page, audit->form == AUDIT_CSV);
    }
    free(order);
    return result ? command_fail(COMMAND, "no memory") : command_finish(COMMAND, EXIT_SUCCESS);
}

static int audit_run(struct audit *audit)
{
    size_t left_out = 0;
    int status;

    config_read(&audit->config, config_path(), NULL);
    if (!audit->input.db && !audit->input.dir) {
        audit->input.dir = audit->config.acct_dir; /* a user's own records say nothing of nodes */
    }
    status = report_input_complete(&audit->input, &audit->config);
    status = status ? status : audit_set_times(audit);
    status = status ? status : audit_read_hours(audit, &left_out);
    status = status ? status : audit_read_records(audit, &left_out);
    if (status) {
        return status;
    }
    audit_settle(&audit->ledger);
    if (audit->ledger.row_count == 0) {
        return command_fail(COMMAND, audit->ledger.open
                                         ? "nothing to audit yet: the current hour is still open"
                                         : "no node found in this time");
    }
    status = audit_print(audit);
    return audit->input.strict && left_out > 0 ? EXIT_FAILURE : status;
}

int audit_command(int argc, char **argv)
{
    static struct audit audit = {.input.command = COMMAND};
    int status = command_options(&table, argc, argv, &audit);

    if (status >= 0) {
        return status;
    }
    if (optind < argc) {
        return command_refuse(COMMAND, "takes no arguments: name a folder with --acct-dir");
    }
    config_defaults(&audit.config);
    status = audit_run(&audit);
    audit_free(&audit.ledger);
    config_clear(&audit.config);
    return status;
}
