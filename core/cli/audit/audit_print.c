/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/audit/audit_result.h"
#include "cli/json.h"
#include "render/table.h"

#define AUDIT_JSON_VERSION 1
#define REASONS_SIZE 1024

static struct audit_row audit_page_total(const struct audit_page *page)
{
    struct audit_row total = audit_row_empty();

    for (size_t i = 0; i < page->ledger->row_count; i++) {
        audit_total(&page->ledger->rows[i], &total);
    }
    return total;
}

/* --- a table, and CSV ------------------------------------------------------------------------ */

static const struct table_column audit_columns[] = {
    {.key = "cluster"},
    {.title = "node", .key = "node"},
    {.title = "day", .key = "day"},
    {.title = "energy", .key = "energy_j", .form = TABLE_QUANTITY, .unit = "J"},
    {.title = "shares", .key = "shares_j", .form = TABLE_QUANTITY, .unit = "J"},
    {.title = "idle", .key = "idle_j", .form = TABLE_QUANTITY, .unit = "J"},
    {.title = "nobody", .key = "unattributed_j", .form = TABLE_QUANTITY, .unit = "J"},
    {.key = "hours_steps_j", .form = TABLE_QUANTITY, .unit = "J"},
    {.title = "unmeasured", .key = "unmeasured_s", .form = TABLE_DURATION},
    {.title = "closure", .key = "closure_pct", .form = TABLE_PERCENT, .decimals = 2},
    {.key = "idle_w", .form = TABLE_QUANTITY, .unit = "W"},
    {.key = "records", .form = TABLE_COUNT},
    {.key = "records_without_share", .form = TABLE_COUNT},
    {.title = "what is missing", .key = "missing"}};

/* @param node  what the row is called */
static void audit_put(const struct table *table, const struct audit_ledger *ledger,
                      const struct audit_row *row, const char *node, const char *day)
{
    const struct audit_result result = audit_evaluate(ledger, row);
    char reasons[REASONS_SIZE];

    audit_reasons_text(&result, reasons, sizeof reasons);
    table_put(table,
              (struct table_cell[]){
                  CELL_TEXT(*day ? pool_text(&ledger->texts, row->cluster) : ""),
                  CELL_TEXT(node),
                  CELL_TEXT(day),
                  CELL_OR_BLANK(result.sum.hours.energy_j),
                  CELL_OR_BLANK(result.sum.shares_j),
                  CELL_OR_BLANK(result.sum.hours.idle_j),
                  CELL_OR_BLANK(result.sum.hours.unattributed_j),
                  CELL(result.sum.hours.steps_j),
                  {.value = result.unmeasured_s, .text = result.unmeasured_s > 0 ? NULL : ""},
                  CELL_OR_BLANK(result.closure_pct),
                  CELL(result.idle_w),
                  CELL((double)row->records),
                  CELL((double)row->shareless),
                  CELL_TEXT(reasons),
              });
}

int audit_print_table(const struct audit_page *page, bool csv)
{
    struct table table =
        table_begin(audit_columns, COUNT_OF(audit_columns), csv, !page->no_header, stdout);
    const struct audit_ledger *ledger = page->ledger;
    const struct audit_row total = audit_page_total(page);

    for (size_t i = 0; i < page->count; i++) {
        const struct audit_row *row = &ledger->rows[page->order[i]];
        char day[TIMESTAMP_SIZE];

        timestamp_day(day, sizeof day, row->day_ns);
        audit_put(&table, ledger, row, pool_text(&ledger->texts, row->node), day);
    }
    if (ledger->row_count > 1 && !csv) {
        audit_put(&table, ledger, &total, "all", "");
    }
    return table_end(&table, NULL);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void audit_json_sum(struct json_writer *json, const struct audit_sum *sum)
{
    json_put_number(json, "energy_j", sum->hours.energy_j, JSON_MEASURED);
    json_put_number(json, "shares_j", sum->shares_j, JSON_MEASURED);
    json_put_number(json, "idle_j", sum->hours.idle_j, JSON_MEASURED);
    json_put_number(json, "unattributed_j", sum->hours.unattributed_j, JSON_MEASURED);
    json_put_number(json, "hours_steps_j", sum->hours.steps_j, JSON_MEASURED);
    json_put_number(json, "closure_pct", audit_closure(sum), JSON_MEASURED);
}

static void audit_json_domains(struct json_writer *json, const struct audit_row *row)
{
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct audit_sum *sum = &row->sums[d];

        if (!isnan(sum->hours.energy_j) || !isnan(sum->shares_j)) {
            json_begin_object(json, apapi_domain_name(d));
            audit_json_sum(json, sum);
            json_end(json);
        }
    }
    json_end(json);
}

static void audit_json_reasons(struct json_writer *json, const struct audit_result *result)
{
    json_begin_array(json, "missing");
    for (size_t i = 0; i < result->reason_count; i++) {
        const struct audit_reason *reason = &result->reasons[i];

        json_begin_object(json, NULL);
        json_put_text(json, "reason", reason->text);
        if (reason->count > 0) {
            json_put_count(json, "count", reason->count);
        }
        json_put_number(json, "elapsed_s", reason->elapsed_s, JSON_MEASURED);
        json_put_number(json, "energy_j", reason->energy_j, JSON_MEASURED);
        json_end(json);
    }
    json_end(json);
}

/* What rows and the total have. */
static void audit_json_figures(struct json_writer *json, const struct audit_ledger *ledger,
                               const struct audit_row *row)
{
    const struct audit_result result = audit_evaluate(ledger, row);

    json_put_text(json, "meter",
                  result.meter == AUDIT_TOTAL ? "total" : apapi_domain_name(result.meter));
    audit_json_sum(json, &result.sum);
    json_put_number(json, "measured_s", row->measured_s, JSON_MEASURED);
    json_put_number(json, "unmeasured_s", result.unmeasured_s, JSON_MEASURED);
    json_put_number(json, "idle_w", result.idle_w, JSON_MEASURED);
    json_put_count(json, "steps", row->steps);
    json_put_count(json, "records", row->records);
    json_put_count(json, "records_without_share", row->shareless);
    json_put_count(json, "gaps", row->gaps_total);
    json_put_count(json, "resets", row->resets);
    audit_json_domains(json, row);
    audit_json_reasons(json, &result);
}

int audit_print_json(const struct audit_page *page)
{
    const struct audit_ledger *ledger = page->ledger;
    const struct audit_row total = audit_page_total(page);
    struct json_writer json = {.out = stdout};
    char day[TIMESTAMP_SIZE];

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", AUDIT_JSON_VERSION);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < page->count; i++) {
        const struct audit_row *row = &ledger->rows[page->order[i]];

        timestamp_day(day, sizeof day, row->day_ns);
        json_begin_object(&json, NULL);
        json_put_word(&json, "cluster", pool_text(&ledger->texts, row->cluster));
        json_put_text(&json, "node", pool_text(&ledger->texts, row->node));
        json_put_text(&json, "day", day);
        audit_json_figures(&json, ledger, row);
        json_end(&json);
    }
    json_end(&json);
    json_begin_object(&json, "total");
    audit_json_figures(&json, ledger, &total);
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}
