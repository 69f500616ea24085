/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi audit: what nodes have used beside what steps were given. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/records/input.h"
#include "index/index.h"
#include "record/hour.h"
#include "record/record.h"
#include "render/table.h"
#include "sum/sum.h"

#define COMMAND "audit"
#define AUDIT_JSON_VERSION 1
#define HOUR_NS (3600 * NS_PER_S)
#define DAY_NS (86400 * NS_PER_S)
#define KEY_SIZE 400

enum audit_form { AUDIT_TABLE, AUDIT_JSON, AUDIT_CSV };

/*
 * The energy of nodes by their meters, compared with its use. A row is a node on one day in
 * UTC. Sums of energies are NaN as long as nothing is known.
 */

#define AUDIT_GAP_KINDS 8
#define AUDIT_TOTAL APAPI_DOMAIN_NONE /* of struct audit_row, `sums`: the domains that add up */

/** Energy of a meter, and where it went [J]. */
struct audit_sum {
    struct hour_sum hours; /* by the node's own record */
    double shares_j;       /* in the records of steps */
};

/** Gaps for one reason. */
struct audit_gaps {
    uint32_t reason; /* a text of the ledger */
    uint64_t count;
    double elapsed_s;
};

struct audit_row {
    uint32_t cluster, node; /* texts of the ledger */
    uint32_t first_span;    /* of the node's own record; POOL_NONE: it has none for this day */
    int64_t day_ns, end_ns; /* its begin, and up to where lines can be expected [ns since 1970] */
    double expected_s;      /* between them [s] */
    struct sum sum;         /* of the records of steps */
    double measured_s, late_s; /* late_s: before the first line of the node's own record */
    double idle_sum_j, idle_s; /* idle power by its time */
    uint64_t steps, resets, gaps_total;
    uint64_t records, shareless; /* of steps; those without a share */
    struct audit_gaps gaps[AUDIT_GAP_KINDS];
    size_t gap_count; /* in `gaps` */
    struct audit_sum sums[APAPI_DOMAINS];
};

/** A line of a node's own record that was added. */
struct audit_span {
    int64_t start_ns, end_ns;
    uint32_t next; /* POOL_NONE: none */
};

struct audit_ledger {
    int64_t from_ns, to_ns; /* whole days */
    int64_t now_ns;
    bool open;               /* something of the present hour was left out */
    struct pool texts, keys; /* keys: of rows, numbered as they are */
    struct audit_row *rows;
    size_t row_count, row_room;
    struct audit_span *spans;
    size_t span_count, span_room;
    struct sum_store store; /* of the shares in records of steps */
};

struct audit {
    struct query query;
    int form;   /* enum audit_form */
    size_t top; /* 0: all */
    bool no_header;
    struct audit_ledger ledger;
};

static void audit_add_sum(struct hour_sum *sum, const struct hour_sum *more)
{
    sum->energy_j = known_plus(sum->energy_j, more->energy_j);
    sum->steps_j = known_plus(sum->steps_j, more->steps_j);
    sum->idle_j = known_plus(sum->idle_j, more->idle_j);
    sum->unattributed_j = known_plus(sum->unattributed_j, more->unattributed_j);
}

/* --- rows ----------------------------------------------------------------------------------- */

static struct audit_row audit_row_empty(void)
{
    struct audit_row row = {.first_span = POOL_NONE, .sum = SUM_EMPTY};

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row.sums[d] = (struct audit_sum){{NAN, NAN, NAN, NAN}, NAN};
    }
    return row;
}

/* Today ends with the last full hour: the line of the present one may not be written yet. */
static int64_t audit_day_end(const struct audit_ledger *ledger, int64_t day_ns)
{
    bool today = ledger->now_ns >= day_ns && ledger->now_ns < day_ns + DAY_NS;

    return today ? ledger->now_ns - ledger->now_ns % HOUR_NS : day_ns + DAY_NS;
}

static int64_t audit_day_begin(int64_t unix_ns)
{
    return unix_ns - unix_ns % DAY_NS;
}

static void audit_set_end(struct audit_row *row, int64_t end_ns)
{
    row->end_ns = end_ns;
    row->expected_s = (double)(end_ns - row->day_ns) / NS_PER_S;
}

/* @return the row; NULL: out of memory */
static struct audit_row *audit_find_row(struct audit_ledger *ledger, const char *cluster,
                                        const char *node, int64_t day_ns)
{
    struct audit_row row = audit_row_empty();
    char text[KEY_SIZE];
    uint32_t number;

    snprintf(text, sizeof text, "%lld/%s/%s", (long long)day_ns, cluster, node);
    number = pool_put(&ledger->keys, text);
    if (number == ledger->row_count) {
        row.cluster = pool_put(&ledger->texts, cluster);
        row.node = pool_put(&ledger->texts, node);
        row.day_ns = day_ns;
        audit_set_end(&row, audit_day_end(ledger, day_ns));
        if (row.cluster == POOL_NONE || row.node == POOL_NONE ||
            array_add(&ledger->rows, ledger->row_count, &ledger->row_room, sizeof *ledger->rows)) {
            return NULL;
        }
        ledger->rows[ledger->row_count++] = row;
    }
    return number == POOL_NONE ? NULL : &ledger->rows[number];
}

/* More kinds than there is room for are of the last one. */
static void audit_add_gaps(struct audit_row *row, const struct audit_gaps *more)
{
    size_t i = 0;

    while (i < row->gap_count && i + 1 < AUDIT_GAP_KINDS && row->gaps[i].reason != more->reason) {
        i++;
    }
    if (i == row->gap_count) {
        row->gaps[row->gap_count++] = (struct audit_gaps){.reason = more->reason};
    }
    row->gaps[i].count += more->count;
    row->gaps[i].elapsed_s += isnan(more->elapsed_s) ? 0 : more->elapsed_s;
}

/* Add a row to another one: a total. */
static void audit_total(const struct audit_row *row, struct audit_row *total)
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
        audit_add_gaps(total, &row->gaps[i]);
    }
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        audit_add_sum(&total->sums[d].hours, &row->sums[d].hours);
        total->sums[d].shares_j = known_plus(total->sums[d].shares_j, row->sums[d].shares_j);
    }
}

/* --- nodes' own records --------------------------------------------------------------------- */

/* @return 1; 0: the row has the line, as it may lie in two files, one of them compressed; -1. */
static int audit_put_span(struct audit_ledger *ledger, struct audit_row *row,
                          const struct hour *hour)
{
    for (uint32_t i = row->first_span; i != POOL_NONE; i = ledger->spans[i].next) {
        if (ledger->spans[i].start_ns == hour->start_ns &&
            ledger->spans[i].end_ns == hour->end_ns) {
            return 0;
        }
    }
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
    return 1;
}

/* Add a line of a node's own record. A line that was added before is ignored. 0; -1 with ENOMEM */
static int audit_add_hour(struct audit_ledger *ledger, const struct hour *hour)
{
    int64_t day_ns = audit_day_begin(hour->start_ns);
    bool present = hour->start_ns >= audit_day_end(ledger, day_ns);
    struct audit_row *row;
    int added;

    if (day_ns < ledger->from_ns) {
        return 0;
    }
    if (present && hour->end_ns > ledger->now_ns) {
        ledger->open = true;
        return 0;
    }
    row = audit_find_row(ledger, hour->cluster, hour->node, day_ns);
    added = row ? audit_put_span(ledger, row, hour) : -1;
    if (added <= 0) {
        return added;
    }
    for (size_t i = 0; i < hour->gap_count; i++) {
        struct audit_gaps gap = {pool_put(&ledger->texts, hour->gaps[i].reason), 1,
                                 hour->gaps[i].elapsed_s};

        if (gap.reason == POOL_NONE) {
            return -1;
        }
        audit_add_gaps(row, &gap);
    }
    row->gaps_total += hour->gap_total;
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
    if (present && hour->end_ns > row->end_ns) { /* the sampler has ended in the present hour */
        audit_set_end(row, hour->end_ns);
    }
    return 0;
}

/* --- records of steps ----------------------------------------------------------------------- */

/* The part of a record in one day, up to where the node's own record reaches. */
static int audit_add_part(struct audit_ledger *ledger, const struct apapi_record *record,
                          int64_t from_ns, int64_t to_ns, uint64_t digest)
{
    struct audit_row *row;

    if (audit_day_begin(from_ns) < ledger->from_ns) {
        return 0;
    }
    row = audit_find_row(ledger, record->id.cluster, record->id.node, audit_day_begin(from_ns));
    if (!row) {
        return -1;
    }
    to_ns = to_ns < row->end_ns ? to_ns : row->end_ns;
    if (to_ns <= from_ns) {
        ledger->open = true;
        return 0;
    }
    if (sum_add(&ledger->store, &row->sum, record,
                &(struct sum_part){from_ns, (uint64_t)(to_ns - from_ns), NULL})) {
        return -1;
    }
    ledger->store.pieces[row->sum.last].digest = digest;
    return 0;
}

static int audit_take_record(const struct apapi_record *record, const char *line, size_t size,
                             void *context)
{
    struct audit_ledger *ledger = &((struct audit *)context)->ledger;
    const struct apapi_measurement *m = &record->measurement;
    int64_t from_ns = m->start_unix_ns, end_ns = from_ns + (int64_t)m->elapsed_ns, until_ns;
    uint64_t digest = record_digest(line, size);

    ledger->store.shares = true;
    from_ns = from_ns < ledger->from_ns ? ledger->from_ns : from_ns;
    end_ns = end_ns < ledger->to_ns ? end_ns : ledger->to_ns;
    for (; from_ns < end_ns; from_ns = until_ns) {
        until_ns = audit_day_begin(from_ns) + DAY_NS;
        until_ns = until_ns < end_ns ? until_ns : end_ns;
        if (audit_add_part(ledger, record, from_ns, until_ns, digest)) {
            errno = ENOMEM;
            return -1;
        }
    }
    return 0;
}

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
            row->sums[given[k].domain].shares_j =
                known_plus(row->sums[given[k].domain].shares_j, given[k].energy_j);
            if (apapi_domain_adds_up(given[k].domain)) {
                row->sums[AUDIT_TOTAL].shares_j =
                    known_plus(row->sums[AUDIT_TOTAL].shares_j, given[k].energy_j);
            }
        }
    }
    free(entries.list);
    return 0;
}

/* Add up the records of steps. 0; -1 with ENOMEM */
static int audit_settle(struct audit_ledger *ledger)
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

/* --- figures that follow from a row ----------------------------------------------------------- */

#define AUDIT_REASONS (AUDIT_GAP_KINDS + 8)
#define TOLERANCE 0.001 /* of the energy or the time: less needs no explanation */

/** A reason why not everything is accounted for. */
struct audit_reason {
    const char *text; /* "sampler down", "no record" */
    uint64_t count;   /* 0: not known, or it does not matter */
    double elapsed_s; /* [s]; NaN: not a time */
    double energy_j;  /* [J]; NaN: not an energy */
    int64_t until_ns; /* when it ended, instead of elapsed_s in a text; 0: not known */
};

struct audit_result {
    enum apapi_domain meter; /* of the figures below: AUDIT_TOTAL, or the node's meter */
    struct audit_sum sum;    /* of this meter */
    double closure_pct;      /* shares, idle and unattributed energy, of the meter's [%]; NaN */
    double unmeasured_s;
    double idle_w; /* NaN: not known */
    double worse;  /* the higher, the worse */
    struct audit_reason reasons[AUDIT_REASONS];
    size_t reason_count;
};

static double audit_known(double value)
{
    return isnan(value) ? 0 : value;
}

static double audit_closure(const struct audit_sum *sum)
{
    double energy_j = sum->hours.energy_j;

    return energy_j > 0 ? (audit_known(sum->shares_j) + audit_known(sum->hours.idle_j) +
                           audit_known(sum->hours.unattributed_j)) /
                              energy_j * 100
                        : NAN;
}

static void audit_give(struct audit_result *result, struct audit_reason reason)
{
    result->reasons[result->reason_count++] = reason;
}

static void audit_explain_time(const struct audit_ledger *ledger, const struct audit_row *row,
                               struct audit_result *result)
{
    double rest_s = result->unmeasured_s;

    for (size_t i = 0; i < row->gap_count; i++) {
        const struct audit_gaps *gaps = &row->gaps[i];
        const char *text = pool_text(&ledger->texts, gaps->reason);

        audit_give(result, (struct audit_reason){*text ? text : "no reason given", gaps->count,
                                                 gaps->elapsed_s, NAN, 0});
        rest_s -= gaps->elapsed_s;
    }
    if (row->late_s > row->expected_s * TOLERANCE) {
        int64_t late_ns = (int64_t)(row->late_s * NS_PER_S);

        audit_give(result, (struct audit_reason){"no node sampler yet", 0, row->late_s, NAN,
                                                 row->day_ns ? row->day_ns + late_ns : 0});
        rest_s -= row->late_s;
    }
    if (rest_s > row->expected_s * TOLERANCE) {
        audit_give(result, (struct audit_reason){row->first_span == POOL_NONE ? "no hours"
                                                                              : "hours missing",
                                                 0, rest_s, NAN, 0});
    }
    if (row->resets > 0) {
        audit_give(result, (struct audit_reason){"meter reset", row->resets, NAN, NAN, 0});
    }
}

static void audit_explain_energy(const struct audit_row *row, struct audit_result *result)
{
    const struct audit_sum *sum = &result->sum;
    double lacking_j = audit_known(sum->hours.steps_j) - audit_known(sum->shares_j);
    double least_j = audit_known(sum->hours.energy_j) * TOLERANCE;

    if (row->shareless > 0) {
        audit_give(result,
                   (struct audit_reason){"records without share", row->shareless, NAN, NAN, 0});
    }
    if (row->first_span != POOL_NONE && fabs(lacking_j) > least_j) {
        audit_give(result, (struct audit_reason){lacking_j < 0    ? "records exceed hours"
                                                 : row->shareless ? "not in records"
                                                                  : "no record",
                                                 0, NAN, fabs(lacking_j), 0});
    }
}

static double audit_percent(double value, double whole)
{
    return whole > 0 ? audit_known(value) / whole * 100 : 0;
}

static struct audit_result audit_evaluate(const struct audit_ledger *ledger,
                                          const struct audit_row *row)
{
    bool by_node = isnan(row->sums[AUDIT_TOTAL].hours.energy_j) &&
                   !isnan(row->sums[APAPI_DOMAIN_NODE].hours.energy_j);
    struct audit_result result = {.meter = by_node ? APAPI_DOMAIN_NODE : AUDIT_TOTAL};

    result.sum = row->sums[result.meter];
    result.closure_pct = audit_closure(&result.sum);
    result.unmeasured_s = fmax(row->expected_s - row->measured_s, 0);
    result.idle_w = row->idle_s > 0 ? row->idle_sum_j / row->idle_s : NAN;
    result.worse = audit_percent(result.unmeasured_s, row->expected_s) +
                   fabs(audit_percent(result.sum.hours.unattributed_j, result.sum.hours.energy_j)) +
                   (isnan(result.closure_pct) ? 0 : fabs(100 - result.closure_pct));
    audit_explain_time(ledger, row, &result);
    audit_explain_energy(row, &result);
    return result;
}

/* --- order ---------------------------------------------------------------------------------- */

struct audit_place {
    double worse;
    const char *cluster, *node;
    const struct audit_row *row;
};

static int audit_compare_places(const void *left, const void *right)
{
    const struct audit_place *a = left, *b = right;
    int order = COMPARE(b->worse, a->worse);

    order = order ? order : COMPARE(a->row->day_ns, b->row->day_ns);
    order = order ? order : strcmp(a->cluster, b->cluster);
    return order ? order : strverscmp(a->node, b->node);
}

/* The rows, the worst first. @return NULL: out of memory */
static struct audit_place *audit_order(const struct audit_ledger *ledger)
{
    struct audit_place *places = calloc(ledger->row_count + 1, sizeof *places);

    for (size_t i = 0; i < ledger->row_count && places; i++) {
        const struct audit_row *row = &ledger->rows[i];

        places[i] = (struct audit_place){.worse = audit_evaluate(ledger, row).worse,
                                         .cluster = pool_text(&ledger->texts, row->cluster),
                                         .node = pool_text(&ledger->texts, row->node),
                                         .row = row};
    }
    if (places) {
        qsort(places, ledger->row_count, sizeof *places, audit_compare_places);
    }
    return places;
}

static struct audit_row audit_sum_all(const struct audit_ledger *ledger)
{
    struct audit_row total = audit_row_empty();

    for (size_t i = 0; i < ledger->row_count; i++) {
        audit_total(&ledger->rows[i], &total);
    }
    return total;
}

/* --- a table, and CSV ------------------------------------------------------------------------ */

#define REASONS_SIZE 1024

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

/* @param node  the row's name */
static void audit_put(const struct table *table, const struct audit_ledger *ledger,
                      const struct audit_row *row, const char *node, const char *day)
{
    const struct audit_result result = audit_evaluate(ledger, row);
    char reasons[REASONS_SIZE] = "", one[160];

    for (size_t i = 0, used = 0; i < result.reason_count; i++, used = strlen(reasons)) {
        audit_reason_text(&result.reasons[i], one, sizeof one);
        snprintf(reasons + used, sizeof reasons - used, "%s%s", i ? "; " : "", one);
    }
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

static int audit_print_table(const struct audit *audit, const struct audit_place *places,
                             size_t count)
{
    bool csv = audit->form == AUDIT_CSV;
    struct table table =
        table_begin(audit_columns, COUNT_OF(audit_columns), csv, !audit->no_header, stdout);
    const struct audit_ledger *ledger = &audit->ledger;
    char day[TIMESTAMP_SIZE];

    for (size_t i = 0; i < count; i++) {
        timestamp_day(day, sizeof day, places[i].row->day_ns);
        audit_put(&table, ledger, places[i].row, places[i].node, day);
    }
    if (ledger->row_count > 1 && !csv) {
        const struct audit_row total = audit_sum_all(ledger);

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

/* Shared by rows and the total. */
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
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (!isnan(row->sums[d].hours.energy_j) || !isnan(row->sums[d].shares_j)) {
            json_begin_object(json, apapi_domain_name(d));
            audit_json_sum(json, &row->sums[d]);
            json_end(json);
        }
    }
    json_end(json);
    json_begin_array(json, "missing");
    for (size_t i = 0; i < result.reason_count; i++) {
        json_begin_object(json, NULL);
        json_put_text(json, "reason", result.reasons[i].text);
        if (result.reasons[i].count > 0) {
            json_put_count(json, "count", result.reasons[i].count);
        }
        json_put_number(json, "elapsed_s", result.reasons[i].elapsed_s, JSON_MEASURED);
        json_put_number(json, "energy_j", result.reasons[i].energy_j, JSON_MEASURED);
        json_end(json);
    }
    json_end(json);
}

static int audit_print_json(const struct audit_ledger *ledger, const struct audit_place *places,
                            size_t count)
{
    const struct audit_row total = audit_sum_all(ledger);
    struct json_writer json = {.out = stdout};
    char day[TIMESTAMP_SIZE];

    json_begin_object(&json, NULL);
    json_put_count(&json, "version", AUDIT_JSON_VERSION);
    json_begin_array(&json, "rows");
    for (size_t i = 0; i < count; i++) {
        timestamp_day(day, sizeof day, places[i].row->day_ns);
        json_begin_object(&json, NULL);
        json_put_word(&json, "cluster", places[i].cluster);
        json_put_text(&json, "node", places[i].node);
        json_put_text(&json, "day", day);
        audit_json_figures(&json, ledger, places[i].row);
        json_end(&json);
    }
    json_end(&json);
    json_begin_object(&json, "total");
    audit_json_figures(&json, ledger, &total);
    json_end(&json);
    json_end(&json);
    return json_finish(&json);
}

/* --- input ---------------------------------------------------------------------------------- */

static int audit_take_hour(const struct hour *hour, void *context)
{
    struct audit *audit = context;

    return query_has_cluster(&audit->query, hour->cluster) ? audit_add_hour(&audit->ledger, hour)
                                                           : 0;
}

static void audit_note_problem(const struct apapi_scan_problem *problem, void *context)
{
    if (((const struct audit *)context)->query.verbose) {
        command_note_skipped(COMMAND, problem);
    }
}

static int audit_read_hours(struct audit *audit)
{
    struct query *query = &audit->query;
    const struct apapi_scan_filter filter = {.from_unix_ns = audit->ledger.from_ns,
                                             .to_unix_ns = audit->ledger.to_ns,
                                             .nodes = query->nodes};
    const struct hours_sink sink = {
        .hour = audit_take_hour, .problem = audit_note_problem, .context = audit};
    struct apapi_scan_counts counts = {0};
    struct apapi_error err = {""};

    if (query->db ? db_read_hours(query->db, &filter, audit_take_hour, audit, &err)
                  : hours_read(query->dir, &filter, &sink, &counts, &err)) {
        return records_fail(query, errno, &err);
    }
    query->left_out = counts.skipped + counts.unreadable;
    command_count_skipped(COMMAND, query->left_out, query->verbose);
    return EXIT_SUCCESS;
}

/* Records of steps that ran in these days may have ended at any time after them. */
static int audit_read_records(struct audit *audit)
{
    struct query *query = &audit->query;

    query->from_ns = audit->ledger.from_ns;
    query->to_ns = 0;
    return records_read(query, audit_take_record, audit);
}

/* --- the command ---------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {'S', "starttime", "=TIME", ", ", TO_TEXT(struct audit, query.from)},
    {'E', "endtime", "=TIME", "days (UTC) from the first to the second time",
     TO_TEXT(struct audit, query.to)},
    {'N', "nodelist", "=NODES", "only these nodes", TO_TEXT(struct audit, query.nodes)},
    {'M', "clusters", "=CLUSTER,...", "only these clusters", TO_TEXT(struct audit, query.clusters)},
    {0, "top", "=N", "the first N rows", TO_COUNT(struct audit, top)},
    {0, "json", NULL, ", ", TO_VALUE(struct audit, form, AUDIT_JSON)},
    {0, "csv", NULL, "for programs", TO_VALUE(struct audit, form, AUDIT_CSV)},
    {'n', "noheader", NULL, "no line of titles (CSV)", TO_FLAG(struct audit, no_header)},
    {OPTION_ROWS_OF(struct audit, query, query_source_rows)},
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

static int audit_run(struct audit *audit)
{
    struct audit_ledger *ledger = &audit->ledger;
    struct audit_place *places;
    int status, result = -1;

    ledger->now_ns = clock_unix_ns();
    ledger->from_ns = audit_day_begin(audit->query.from_ns);
    ledger->to_ns = audit_day_begin(audit->query.to_ns - 1) + DAY_NS;
    status = audit_read_hours(audit);
    status = status ? status : audit_read_records(audit);
    if (status) {
        return status;
    }
    if (audit_settle(ledger)) {
        return command_fail(COMMAND, "no memory");
    }
    if (ledger->row_count == 0) {
        return command_fail(COMMAND, ledger->open
                                         ? "nothing to audit yet: the current hour is still open"
                                         : "no node found in this time");
    }
    places = audit_order(ledger);
    if (places) {
        size_t count = ledger->row_count;

        count = audit->top && audit->top < count ? audit->top : count;
        result = audit->form == AUDIT_JSON ? audit_print_json(ledger, places, count)
                                           : audit_print_table(audit, places, count);
    }
    free(places);
    return command_end(COMMAND, result);
}

int audit_command(int argc, char **argv)
{
    static struct audit audit = {
        .query = {.command = COMMAND, .of_nodes = true, .from = "24h", .to = "now"}};
    struct audit_ledger *ledger = &audit.ledger;
    int status = command_options(&table, argc, argv, &audit);

    if (status >= 0) {
        return status;
    }
    if (optind < argc) {
        return command_refuse(COMMAND, "takes no arguments: name a folder with --acct-dir");
    }
    status = records_begin(&audit.query);
    status = records_end(&audit.query, status ? status : audit_run(&audit));
    pool_free(&ledger->texts);
    pool_free(&ledger->keys);
    free(ledger->rows);
    free(ledger->spans);
    sum_free(&ledger->store);
    return status;
}
