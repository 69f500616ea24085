/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/audit/audit_ledger.h"
#include "sum/sum.h"

#define KEY_SIZE 400
#define HOUR_NS (3600 * NS_PER_S)
#define DAY_NS (86400 * NS_PER_S)

static const struct hour_sum audit_unknown = {NAN, NAN, NAN, NAN};

static void audit_add(double *sum, double value)
{
    if (!isnan(value)) {
        *sum = isnan(*sum) ? value : *sum + value;
    }
}

static void audit_add_sum(struct hour_sum *sum, const struct hour_sum *more)
{
    audit_add(&sum->energy_j, more->energy_j);
    audit_add(&sum->steps_j, more->steps_j);
    audit_add(&sum->idle_j, more->idle_j);
    audit_add(&sum->unattributed_j, more->unattributed_j);
}

/* --- rows ----------------------------------------------------------------------------------- */

struct audit_row audit_row_empty(void)
{
    struct audit_row row = {.first_span = POOL_NONE, .sum = SUM_EMPTY};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row.sums[d] = (struct audit_sum){audit_unknown, NAN};
    }
    return row;
}

/* Today ends with the last full hour: the line of the present one may not be written yet. */
static int64_t audit_day_end(const struct audit_ledger *ledger, int64_t day_ns)
{
    bool today = ledger->now_ns >= day_ns && ledger->now_ns < day_ns + DAY_NS;

    return today ? ledger->now_ns - ledger->now_ns % HOUR_NS : day_ns + DAY_NS;
}

static void audit_set_end(struct audit_row *row, int64_t end_ns)
{
    row->end_ns = end_ns;
    row->expected_s = (double)(end_ns - row->day_ns) / NS_PER_S;
}

static uint32_t audit_new_row(struct audit_ledger *ledger, const char *cluster, const char *node,
                              int64_t day_ns)
{
    uint32_t of_cluster = pool_put(&ledger->texts, cluster),
             of_node = pool_put(&ledger->texts, node);
    struct audit_row *row;

    if (of_cluster == POOL_NONE || of_node == POOL_NONE ||
        array_add(&ledger->rows, ledger->row_count, &ledger->row_room, sizeof *ledger->rows)) {
        return POOL_NONE;
    }
    row = &ledger->rows[ledger->row_count];
    *row = audit_row_empty();
    row->cluster = of_cluster;
    row->node = of_node;
    row->day_ns = day_ns;
    audit_set_end(row, audit_day_end(ledger, day_ns));
    return (uint32_t)ledger->row_count++;
}

/* @return the number of a row; POOL_NONE: out of memory */
static uint32_t audit_find_row(struct audit_ledger *ledger, const char *cluster, const char *node,
                               int64_t day_ns)
{
    char text[KEY_SIZE];
    uint32_t number;

    snprintf(text, sizeof text, "%lld/%s/%s", (long long)day_ns, cluster, node);
    number = pool_put(&ledger->keys, text);
    return number == POOL_NONE || number < ledger->row_count
               ? number
               : audit_new_row(ledger, cluster, node, day_ns);
}

/* --- nodes' own records --------------------------------------------------------------------- */

/* The same line may lie in two files, one of them compressed. */
static bool audit_has_span(const struct audit_ledger *ledger, const struct audit_row *row,
                           const struct hour *hour)
{
    for (uint32_t i = row->first_span; i != POOL_NONE; i = ledger->spans[i].next) {
        if (ledger->spans[i].start_ns == hour->start_ns &&
            ledger->spans[i].end_ns == hour->end_ns) {
            return true;
        }
    }
    return false;
}

static int audit_put_span(struct audit_ledger *ledger, struct audit_row *row,
                          const struct hour *hour)
{
    if (array_add(&ledger->spans, ledger->span_count, &ledger->span_room, sizeof *ledger->spans)) {
        return -1;
    }
    ledger->spans[ledger->span_count] =
        (struct audit_span){hour->start_ns, hour->end_ns, row->first_span};
    if (row->first_span == POOL_NONE ||
        hour->start_ns < row->day_ns + (int64_t)(row->late_s * NS_PER_S)) {
        row->late_s = (double)(hour->start_ns - row->day_ns) / NS_PER_S;
    }
    row->first_span = (uint32_t)ledger->span_count++;
    return 0;
}

/* More kinds than there is room for are of the last one. */
static struct audit_gaps *audit_gaps_of(struct audit_row *row, uint32_t reason)
{
    for (size_t i = 0; i < row->gap_count; i++) {
        if (row->gaps[i].reason == reason || i + 1 == AUDIT_GAP_KINDS) {
            return &row->gaps[i];
        }
    }
    row->gaps[row->gap_count] = (struct audit_gaps){.reason = reason};
    return &row->gaps[row->gap_count++];
}

static void audit_add_gaps(struct audit_row *row, uint32_t reason, uint64_t count, double elapsed_s)
{
    struct audit_gaps *gaps = audit_gaps_of(row, reason);

    gaps->count += count;
    gaps->elapsed_s += isnan(elapsed_s) ? 0 : elapsed_s;
}

static int audit_take_gaps(struct audit_ledger *ledger, struct audit_row *row,
                           const struct hour *hour)
{
    for (size_t i = 0; i < hour->gap_count; i++) {
        uint32_t reason = pool_put(&ledger->texts, hour->gaps[i].reason);

        if (reason == POOL_NONE) {
            return -1;
        }
        audit_add_gaps(row, reason, 1, hour->gaps[i].elapsed_s);
    }
    row->gaps_total += hour->gap_total;
    return 0;
}

static void audit_row_add_hour(struct audit_row *row, const struct hour *hour)
{
    row->measured_s += hour->measured_s;
    row->steps += hour->steps;
    row->resets += hour->resets;
    if (!isnan(hour->idle_w)) {
        row->idle_sum_j += hour->idle_w * hour->measured_s;
        row->idle_s += hour->measured_s;
    }
    audit_add_sum(&row->sums[AUDIT_TOTAL].hours, &hour->total);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        bool meter = d == APAPI_DOMAIN_NODE && !isnan(hour->node_meter.energy_j);

        audit_add_sum(&row->sums[d].hours, meter ? &hour->node_meter : &hour->domains[d]);
    }
}

int audit_add_hour(struct audit_ledger *ledger, const struct hour *hour)
{
    int64_t day_ns = hour->start_ns - hour->start_ns % DAY_NS;
    bool present = hour->start_ns >= audit_day_end(ledger, day_ns);
    uint32_t number;
    struct audit_row *row;

    if (day_ns < ledger->from_ns) {
        return 0;
    }
    if (present && hour->end_ns > ledger->now_ns) {
        ledger->open = true;
        return 0;
    }
    number = audit_find_row(ledger, hour->cluster, hour->node, day_ns);
    if (number == POOL_NONE) {
        return -1;
    }
    row = &ledger->rows[number];
    if (audit_has_span(ledger, row, hour)) {
        return 0;
    }
    if (audit_put_span(ledger, row, hour) || audit_take_gaps(ledger, row, hour)) {
        return -1;
    }
    audit_row_add_hour(row, hour);
    if (present && hour->end_ns > row->end_ns) { /* the sampler has ended in the present hour */
        audit_set_end(row, hour->end_ns);
    }
    return 0;
}

/* --- records of steps ----------------------------------------------------------------------- */

static int64_t audit_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part of a record in one day, up to where the node's own record reaches. */
static int audit_add_part(struct audit_ledger *ledger, const struct apapi_record *record,
                          int64_t from_ns, int64_t to_ns, uint64_t digest)
{
    int64_t day_ns = from_ns - from_ns % DAY_NS;
    uint32_t row;

    if (day_ns < ledger->from_ns) {
        return 0;
    }
    row = audit_find_row(ledger, record->id.cluster, record->id.node, day_ns);
    if (row == POOL_NONE) {
        return -1;
    }
    to_ns = audit_earlier(to_ns, ledger->rows[row].end_ns);
    if (to_ns <= from_ns) {
        ledger->open = true;
        return 0;
    }
    if (sum_add(&ledger->store, &ledger->rows[row].sum, record,
                &(struct sum_part){from_ns, (uint64_t)(to_ns - from_ns)})) {
        return -1;
    }
    ledger->store.pieces[ledger->rows[row].sum.last].digest = digest;
    return 0;
}

int audit_add_record(struct audit_ledger *ledger, const struct apapi_record *record,
                     uint64_t digest)
{
    const struct apapi_measurement *m = &record->measurement;
    int64_t end_ns = audit_earlier(m->start_unix_ns + (int64_t)m->elapsed_ns, ledger->to_ns);
    int64_t from_ns = m->start_unix_ns, until_ns;

    ledger->store.shares = true;
    if (from_ns < ledger->from_ns) {
        from_ns = ledger->from_ns;
    }
    for (; from_ns < end_ns; from_ns = until_ns) {
        until_ns = audit_earlier(from_ns - from_ns % DAY_NS + DAY_NS, end_ns);
        if (audit_add_part(ledger, record, from_ns, until_ns, digest)) {
            errno = ENOMEM;
            return -1;
        }
    }
    return 0;
}

/* --- the end -------------------------------------------------------------------------------- */

static int audit_settle_row(const struct sum_store *store, struct audit_row *row)
{
    struct sum_entries entries;

    if (sum_gather(store, &row->sum, &entries)) {
        return -1;
    }
    row->records = entries.count;
    for (size_t i = 0; i < entries.count; i++) {
        const struct sum_piece *piece = entries.list[i].piece;
        const struct sum_domain *given = store->domains + piece->domain_at;

        row->shareless += piece->shareless;
        for (size_t k = 0; k < piece->domain_count; k++) {
            audit_add(&row->sums[given[k].domain].shares_j, given[k].energy_j);
            if (apapi_domain_adds_up(given[k].domain)) {
                audit_add(&row->sums[AUDIT_TOTAL].shares_j, given[k].energy_j);
            }
        }
    }
    free(entries.list);
    return 0;
}

int audit_settle(struct audit_ledger *ledger)
{
    size_t kept = 0;

    for (size_t i = 0; i < ledger->row_count; i++) {
        if (audit_settle_row(&ledger->store, &ledger->rows[i])) {
            return -1;
        }
        /* Of the present hour alone, nothing is said. */
        if (ledger->rows[i].records > 0 || ledger->rows[i].first_span != POOL_NONE) {
            ledger->rows[kept++] = ledger->rows[i];
        }
    }
    ledger->row_count = kept;
    return 0;
}

void audit_total(const struct audit_row *row, struct audit_row *total)
{
    total->expected_s += row->expected_s;
    total->measured_s += fmin(row->measured_s, row->expected_s); /* more of one is not another's */
    total->late_s += row->late_s;
    total->idle_sum_j += row->idle_sum_j;
    total->idle_s += row->idle_s;
    total->steps += row->steps;
    total->resets += row->resets;
    total->gaps_total += row->gaps_total;
    total->records += row->records;
    total->shareless += row->shareless;
    total->first_span = row->first_span == POOL_NONE ? total->first_span : row->first_span;
    for (size_t i = 0; i < row->gap_count; i++) {
        audit_add_gaps(total, row->gaps[i].reason, row->gaps[i].count, row->gaps[i].elapsed_s);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        audit_add_sum(&total->sums[d].hours, &row->sums[d].hours);
        audit_add(&total->sums[d].shares_j, row->sums[d].shares_j);
    }
}

void audit_free(struct audit_ledger *ledger)
{
    pool_free(&ledger->texts);
    pool_free(&ledger->keys);
    free(ledger->rows);
    free(ledger->spans);
    sum_free(&ledger->store);
}
