/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/audit/audit_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"

#define TOLERANCE 0.001 /* of the energy or the time: less needs no explanation */

static double audit_known(double value)
{
    return isnan(value) ? 0 : value;
}

double audit_closure(const struct audit_sum *sum)
{
    double energy_j = sum->hours.energy_j;

    if (isnan(energy_j) || energy_j <= 0) {
        return NAN;
    }
    return (audit_known(sum->shares_j) + audit_known(sum->hours.idle_j) +
            audit_known(sum->hours.unattributed_j)) /
           energy_j * 100;
}

/* --- reasons -------------------------------------------------------------------------------- */

static void audit_give(struct audit_result *result, struct audit_reason reason)
{
    result->reasons[result->reason_count++] = reason;
}

static void audit_give_time(struct audit_result *result, const char *text, uint64_t count,
                            double elapsed_s)
{
    audit_give(result, (struct audit_reason){text, count, elapsed_s, NAN, 0});
}

static void audit_explain_time(const struct audit_ledger *ledger, const struct audit_row *row,
                               struct audit_result *result)
{
    double rest_s = result->unmeasured_s;

    for (size_t i = 0; i < row->gap_count; i++) {
        const struct audit_gaps *gaps = &row->gaps[i];
        const char *text = pool_text(&ledger->texts, gaps->reason);

        audit_give_time(result, *text ? text : "no reason given", gaps->count, gaps->elapsed_s);
        rest_s -= gaps->elapsed_s;
    }
    if (row->late_s > row->expected_s * TOLERANCE) {
        int64_t late_ns = (int64_t)(row->late_s * NS_PER_S);

        audit_give(result, (struct audit_reason){"no node sampler yet", 0, row->late_s, NAN,
                                                 row->day_ns ? row->day_ns + late_ns : 0});
        rest_s -= row->late_s;
    }
    if (rest_s > row->expected_s * TOLERANCE) {
        audit_give_time(result, row->first_span == POOL_NONE ? "no hours" : "hours missing", 0,
                        rest_s);
    }
    if (row->resets > 0) {
        audit_give_time(result, "meter reset", row->resets, NAN);
    }
}

static void audit_explain_energy(const struct audit_row *row, struct audit_result *result)
{
    const struct audit_sum *sum = &result->sum;
    double lacking_j = audit_known(sum->hours.steps_j) - audit_known(sum->shares_j);
    double least_j = audit_known(sum->hours.energy_j) * TOLERANCE;

    if (row->shareless > 0) {
        audit_give_time(result, "records without share", row->shareless, NAN);
    }
    if (row->first_span == POOL_NONE) {
        return;
    }
    if (lacking_j > least_j) {
        audit_give(result, (struct audit_reason){row->shareless ? "not in records" : "no record", 0,
                                                 NAN, lacking_j, 0});
    } else if (-lacking_j > least_j) {
        audit_give(result, (struct audit_reason){"records exceed hours", 0, NAN, -lacking_j, 0});
    }
}

/* --- a row ---------------------------------------------------------------------------------- */

static double audit_percent(double value, double whole)
{
    return whole > 0 ? audit_known(value) / whole * 100 : 0;
}

static double audit_worse(const struct audit_row *row, const struct audit_result *result)
{
    double unmeasured_pct = audit_percent(result->unmeasured_s, row->expected_s);
    double nobodys_pct =
        audit_percent(result->sum.hours.unattributed_j, result->sum.hours.energy_j);

    return unmeasured_pct + fabs(nobodys_pct) +
           (isnan(result->closure_pct) ? 0 : fabs(100 - result->closure_pct));
}

struct audit_result audit_evaluate(const struct audit_ledger *ledger, const struct audit_row *row)
{
    bool by_node = isnan(row->sums[AUDIT_TOTAL].hours.energy_j) &&
                   !isnan(row->sums[APAPI_DOMAIN_NODE].hours.energy_j);
    struct audit_result result = {.meter = by_node ? APAPI_DOMAIN_NODE : AUDIT_TOTAL};

    result.sum = row->sums[result.meter];
    result.closure_pct = audit_closure(&result.sum);
    result.unmeasured_s = fmax(row->expected_s - row->measured_s, 0);
    result.idle_w = row->idle_s > 0 ? row->idle_sum_j / row->idle_s : NAN;
    result.worse = audit_worse(row, &result);
    audit_explain_time(ledger, row, &result);
    audit_explain_energy(row, &result);
    return result;
}

/* --- text ----------------------------------------------------------------------------------- */

static void audit_reason_text(const struct audit_reason *reason, char *text, size_t size)
{
    char amount[UNITS_SIZE] = "", times[32] = "", until[TIMESTAMP_SIZE];

    if (reason->until_ns) {
        timestamp_format(until, sizeof until, reason->until_ns);
        snprintf(text, size, "no node sampler before %.5s", until + strlen("2026-11-21T"));
        return;
    }
    if (!isnan(reason->energy_j)) {
        units_quantity(amount, sizeof amount, reason->energy_j, "J");
    } else if (!isnan(reason->elapsed_s)) {
        units_duration(amount, sizeof amount, reason->elapsed_s);
    } else {
        snprintf(amount, sizeof amount, "%llu", (unsigned long long)reason->count);
    }
    if (reason->count > 1 && !isnan(reason->elapsed_s)) {
        snprintf(times, sizeof times, " (%llu times)", (unsigned long long)reason->count);
    }
    snprintf(text, size, "%s %s%s", reason->text, amount, times);
}

void audit_reasons_text(const struct audit_result *result, char *text, size_t size)
{
    *text = '\0';
    for (size_t i = 0; i < result->reason_count; i++) {
        size_t used = strlen(text);
        char one[160];

        audit_reason_text(&result->reasons[i], one, sizeof one);
        snprintf(text + used, size - used, "%s%s", i ? "; " : "", one);
    }
}

/* --- order ---------------------------------------------------------------------------------- */

struct audit_place {
    double worse;
    int64_t day_ns;
    const char *cluster, *node;
    uint32_t number;
};

static int audit_compare_places(const void *left, const void *right)
{
    const struct audit_place *a = left, *b = right;
    int result;

    if (a->worse != b->worse) {
        return a->worse > b->worse ? -1 : 1;
    }
    if (a->day_ns != b->day_ns) {
        return a->day_ns < b->day_ns ? -1 : 1;
    }
    result = strcmp(a->cluster, b->cluster);
    return result ? result : strverscmp(a->node, b->node);
}

static void audit_find_places(const struct audit_ledger *ledger, struct audit_place *places)
{
    for (uint32_t i = 0; i < ledger->row_count; i++) {
        const struct audit_row *row = &ledger->rows[i];

        places[i] = (struct audit_place){.worse = audit_evaluate(ledger, row).worse,
                                         .day_ns = row->day_ns,
                                         .cluster = pool_text(&ledger->texts, row->cluster),
                                         .node = pool_text(&ledger->texts, row->node),
                                         .number = i};
    }
}

uint32_t *audit_order(const struct audit_ledger *ledger)
{
    struct audit_place *places = calloc(ledger->row_count + 1, sizeof *places);
    uint32_t *order = calloc(ledger->row_count + 1, sizeof *order);

    if (!places || !order) {
        free(places);
        free(order);
        return NULL;
    }
    audit_find_places(ledger, places);
    qsort(places, ledger->row_count, sizeof *places, audit_compare_places);
    for (uint32_t i = 0; i < ledger->row_count; i++) {
        order[i] = places[i].number;
    }
    free(places);
    return order;
}
