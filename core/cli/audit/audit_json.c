/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "base/timestamp.h"
#include "cli/audit/audit_print.h"
#include "cli/audit/audit_result.h"
#include "cli/json.h"
#include "record/fields.h"

#define AUDIT_JSON_VERSION 1

/* An unknown one has no key. */
static int audit_json_number(json_t *object, const char *key, double number)
{
    return field_put_rounded(object, key, number, FIELD_MEASURED_FIGURES);
}

static int audit_json_sum(json_t *object, const struct audit_sum *sum)
{
    return audit_json_number(object, "energy_j", sum->hours.energy_j) ||
                   audit_json_number(object, "shares_j", sum->shares_j) ||
                   audit_json_number(object, "idle_j", sum->hours.idle_j) ||
                   audit_json_number(object, "unattributed_j", sum->hours.unattributed_j) ||
                   audit_json_number(object, "hours_steps_j", sum->hours.steps_j) ||
                   audit_json_number(object, "closure_pct", audit_closure(sum))
               ? -1
               : 0;
}

static bool audit_json_is_known(const struct audit_sum *sum)
{
    return !isnan(sum->hours.energy_j) || !isnan(sum->shares_j);
}

static int audit_json_domains(json_t *object, const struct audit_row *row)
{
    json_t *domains = json_object();
    int result = domains ? 0 : -1;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == 0; d++) {
        if (audit_json_is_known(&row->sums[d])) {
            json_t *sum = json_object();

            result = sum ? audit_json_sum(sum, &row->sums[d]) : -1;
            result = json_object_set_new(domains, apapi_domain_name(d), sum) || result ? -1 : 0;
        }
    }
    return json_object_set_new(object, "domains", domains) || result ? -1 : 0;
}

static json_t *audit_json_reason(const struct audit_reason *reason)
{
    json_t *object = json_object();

    if (!object || field_put_text(object, "reason", reason->text) ||
        (reason->count && field_put_count(object, "count", reason->count)) ||
        audit_json_number(object, "elapsed_s", reason->elapsed_s) ||
        audit_json_number(object, "energy_j", reason->energy_j)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int audit_json_reasons(json_t *object, const struct audit_result *result)
{
    json_t *reasons = json_array();
    int failed = reasons ? 0 : -1;

    for (size_t i = 0; i < result->reason_count && failed == 0; i++) {
        failed = json_add(reasons, audit_json_reason(&result->reasons[i]), 0);
    }
    return json_object_set_new(object, "missing", reasons) || failed ? -1 : 0;
}

/* What rows and the total have. */
static int audit_json_figures(json_t *object, const struct audit_ledger *ledger,
                              const struct audit_row *row)
{
    const struct audit_result result = audit_evaluate(ledger, row);

    return field_put_text(object, "meter",
                          result.meter == AUDIT_TOTAL ? "total"
                                                      : apapi_domain_name(result.meter)) ||
                   audit_json_sum(object, &result.sum) ||
                   audit_json_number(object, "measured_s", row->measured_s) ||
                   audit_json_number(object, "unmeasured_s", result.unmeasured_s) ||
                   audit_json_number(object, "idle_w", result.idle_w) ||
                   field_put_count(object, "steps", row->steps) ||
                   field_put_count(object, "records", row->records) ||
                   field_put_count(object, "records_without_share", row->shareless) ||
                   field_put_count(object, "gaps", row->gaps_total) ||
                   field_put_count(object, "resets", row->resets) ||
                   audit_json_domains(object, row) || audit_json_reasons(object, &result)
               ? -1
               : 0;
}

static json_t *audit_json_row(const struct audit_ledger *ledger, const struct audit_row *row)
{
    json_t *object = json_object();
    const char *cluster = pool_text(&ledger->texts, row->cluster);
    char day[TIMESTAMP_SIZE];

    audit_day_text(row, day, sizeof day);
    if (!object || (*cluster && field_put_text(object, "cluster", cluster)) ||
        field_put_text(object, "node", pool_text(&ledger->texts, row->node)) ||
        field_put_text(object, "day", day) || audit_json_figures(object, ledger, row)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int audit_json_rows(json_t *object, const struct audit_page *page)
{
    json_t *rows = json_array();
    int result = rows ? 0 : -1;

    for (size_t i = 0; i < page->count && result == 0; i++) {
        result =
            json_add(rows, audit_json_row(page->ledger, &page->ledger->rows[page->order[i]]), 0);
    }
    return json_object_set_new(object, "rows", rows) || result ? -1 : 0;
}

static int audit_json_total(json_t *object, const struct audit_page *page)
{
    const struct audit_row row = audit_page_total(page);
    json_t *total = json_object();
    int result = total ? audit_json_figures(total, page->ledger, &row) : -1;

    return json_object_set_new(object, "total", total) || result ? -1 : 0;
}

int audit_print_json(const struct audit_page *page)
{
    json_t *object = json_object();

    if (!object || json_object_set_new(object, "version", json_integer(AUDIT_JSON_VERSION)) ||
        audit_json_rows(object, page) || audit_json_total(object, page)) {
        json_decref(object);
        return -1;
    }
    return json_print(object);
}
