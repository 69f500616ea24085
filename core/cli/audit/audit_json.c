/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/audit/audit_print.h"
#include "cli/audit/audit_result.h"
#include "cli/json.h"
#include "record/fields.h"

#define AUDIT_JSON_VERSION 1

static int audit_json_sum(json_t *object, const struct audit_sum *sum)
{
    return field_put_measured(object, "energy_j", sum->hours.energy_j) ||
           field_put_measured(object, "shares_j", sum->shares_j) ||
           field_put_measured(object, "idle_j", sum->hours.idle_j) ||
           field_put_measured(object, "unattributed_j", sum->hours.unattributed_j) ||
           field_put_measured(object, "hours_steps_j", sum->hours.steps_j) ||
           field_put_measured(object, "closure_pct", audit_closure(sum));
}

static int audit_json_domain(json_t *object, const void *sums, size_t d)
{
    const struct audit_sum *sum = &((const struct audit_sum *)sums)[d];

    return isnan(sum->hours.energy_j) && isnan(sum->shares_j) ? FIELDS_NONE
                                                              : audit_json_sum(object, sum);
}

static int audit_json_reason(json_t *object, const void *reasons, size_t i)
{
    const struct audit_reason *reason = &((const struct audit_reason *)reasons)[i];

    return field_put_text(object, "reason", reason->text) ||
           (reason->count && field_put_count(object, "count", reason->count)) ||
           field_put_measured(object, "elapsed_s", reason->elapsed_s) ||
           field_put_measured(object, "energy_j", reason->energy_j);
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
           field_put_measured(object, "measured_s", row->measured_s) ||
           field_put_measured(object, "unmeasured_s", result.unmeasured_s) ||
           field_put_measured(object, "idle_w", result.idle_w) ||
           field_put_count(object, "steps", row->steps) ||
           field_put_count(object, "records", row->records) ||
           field_put_count(object, "records_without_share", row->shareless) ||
           field_put_count(object, "gaps", row->gaps_total) ||
           field_put_count(object, "resets", row->resets) ||
           fields_put_domains(object, "domains", audit_json_domain, row->sums) ||
           fields_put_list(object, "missing", result.reason_count, audit_json_reason,
                           result.reasons);
}

static int audit_json_row(json_t *object, const void *context, size_t i)
{
    const struct audit_page *page = context;
    const struct audit_ledger *ledger = page->ledger;
    const struct audit_row *row = &ledger->rows[page->order[i]];
    const char *cluster = pool_text(&ledger->texts, row->cluster);
    char day[TIMESTAMP_SIZE];

    audit_day_text(row, day, sizeof day);
    return (*cluster && field_put_text(object, "cluster", cluster)) ||
           field_put_text(object, "node", pool_text(&ledger->texts, row->node)) ||
           field_put_text(object, "day", day) || audit_json_figures(object, ledger, row);
}

int audit_print_json(const struct audit_page *page)
{
    const struct audit_row row = audit_page_total(page);
    json_t *object = json_pack("{s:i}", "version", AUDIT_JSON_VERSION), *total = json_object();

    return json_print(object, fields_put_list(object, "rows", page->count, audit_json_row, page) ||
                                  field_put(object, "total", total) ||
                                  audit_json_figures(total, page->ledger, &row));
}
