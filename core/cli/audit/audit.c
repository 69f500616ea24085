/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apapi audit: the energy that nodes have used by their meters, compared with what steps were given
 * of it. A row is one node on one day in UTC; the row of all nodes is their sum.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
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
#define HOUR_NS (3600 * NS_PER_S)
#define DAY_NS (86400 * NS_PER_S)
#define KEY_SIZE 400

#define AUDIT_GAP_KINDS 8

/* Energies are known of the domains that add up, and of the meter of the whole node. */
enum meter { AUDIT_TOTAL, AUDIT_NODE, METERS };

/* LATE_S: time before the first line of the node's own record. IDLE_SUM_J: idle power by its time.
 * RESETS and HOURS are of the node's own record, RECORDS are records of steps, OUTSIDE those with a
 * share of hours that have no line. COMPARED_J: energy of rows with a closure, ACCOUNTED_J: its
 * use. LOST_J and those after it are set by audit_find_lost(). */
enum number {
    EXPECTED_S,
    MEASURED_S,
    LATE_S,
    IDLE_SUM_J,
    IDLE_S,
    RESETS,
    HOURS,
    RECORDS,
    SHARELESS,
    OUTSIDE,
    COMPARED_J,
    ACCOUNTED_J,
    LOST_J,
    NOT_SHARED_J,
    EXCESS_J,
    NUMBERS
};

/* Energies by a meter [J]; NaN: not known. All but SHARES_J come from the node's own record. */
enum energy { METER_J, SHARES_J, IDLE_J, UNATTRIBUTED_J, STEPS_J, ENERGIES };

/** Gaps that have the same reason. */
struct audit_gaps {
    uint32_t reason; /* a text of the ledger */
    uint64_t count;
    double elapsed_s;
};

/** A line of a node's own record. */
struct audit_line {
    uint32_t row;
    int64_t start_ns, end_ns;
    int64_t from_ns; /* start of a gap before the line; else start_ns */
    double measured_s, idle_w;
    uint64_t resets;
    struct hour_sum total, node_meter;
    size_t first_gap, gap_count; /* in the audit's gaps */
};

struct audit_row {
    uint32_t cluster, node; /* texts of the ledger */
    int64_t day_ns, end_ns; /* start of the day, and end of the lines expected [ns since 1970] */
    double numbers[NUMBERS];
    double energies[METERS][ENERGIES];
    struct audit_gaps gaps[AUDIT_GAP_KINDS];
    size_t gap_count; /* in `gaps` */
    uint32_t hours;   /* of the day that have a line or a gap, see audit_hours() */
    /* set by audit_evaluate(): */
    enum meter meter;   /* meter whose energies are shown */
    double closure_pct; /* sum of shares, idle and unattributed energy, in % of the meter's; NaN */
    double unmeasured_s;
    double worse; /* order of the rows: the greatest value is the worst */
};

struct audit {
    struct query query;
    size_t top; /* 0: all */
    bool csv, no_header;
    int64_t from_ns, to_ns; /* whole days */
    int64_t now_ns;
    bool open;                      /* something in the present hour was left out */
    bool clusters;                  /* name the cluster: there are several, or a program reads it */
    struct pool texts, hours, keys; /* number rows (`keys`) and lines (`hours`) by their texts */
    struct audit_line *lines;
    struct audit_gaps *gaps; /* gaps of all lines */
    size_t line_room, gap_count, gap_room;
    struct audit_row *rows;
    size_t row_count, row_room;
    struct sum_store store; /* shares in records of steps; a piece's mark is its row's number */
};

/* --- rows ----------------------------------------------------------------------------------- */

static struct audit_row audit_row_empty(void)
{
    struct audit_row row = {.day_ns = 0};

    for (int i = 0; i < METERS * ENERGIES; i++) {
        row.energies[i / ENERGIES][i % ENERGIES] = NAN;
    }
    return row;
}

/* @return the end of a day; of today, the last full hour: the next line may not be written yet. */
static int64_t audit_day_end(const struct audit *audit, int64_t day_ns)
{
    bool today = audit->now_ns >= day_ns && audit->now_ns < day_ns + DAY_NS;

    return today ? audit->now_ns - audit->now_ns % HOUR_NS : day_ns + DAY_NS;
}

static int64_t audit_day_begin(int64_t unix_ns)
{
    return unix_ns - unix_ns % DAY_NS;
}

/* @return a set of the hours of a row's day: bit h, if the time touches it */
static uint32_t audit_hours(const struct audit_row *row, int64_t from_ns, int64_t end_ns)
{
    uint32_t hours = 0;

    for (int h = 0; h < 24; h++) {
        int64_t hour_ns = row->day_ns + h * HOUR_NS;

        hours |= from_ns < hour_ns + HOUR_NS && end_ns > hour_ns ? 1U << h : 0;
    }
    return hours;
}

/* @return the row; NULL: out of memory */
static struct audit_row *audit_find_row(struct audit *audit, const char *cluster, const char *node,
                                        int64_t day_ns)
{
    struct audit_row *row;
    char text[KEY_SIZE];
    uint32_t number;

    snprintf(text, sizeof text, "%lld/%s/%s", (long long)day_ns, cluster, node);
    number = pool_put_row(&audit->keys, text, &audit->rows, &audit->row_room, sizeof *row);
    if (number == POOL_NONE) {
        return NULL;
    }
    row = &audit->rows[number];
    if (number == audit->row_count) {
        audit->row_count++;
        *row = audit_row_empty();
        row->cluster = pool_put(&audit->texts, cluster);
        row->node = pool_put(&audit->texts, node);
        row->day_ns = day_ns;
        row->end_ns = audit_day_end(audit, day_ns);
    }
    return row->cluster == POOL_NONE || row->node == POOL_NONE ? NULL : row;
}

/* Add gaps to a row. If it has no room for one more kind, they are added to its last kind. */
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

/* Add a row to a total. */
static void audit_total(const struct audit_row *row, struct audit_row *total)
{
    for (int i = 0; i < NUMBERS; i++) { /* no row makes up for time that another lacks */
        total->numbers[i] +=
            i == MEASURED_S ? fmin(row->numbers[i], row->numbers[EXPECTED_S]) : row->numbers[i];
    }
    for (size_t i = 0; i < row->gap_count; i++) {
        audit_add_gaps(total, &row->gaps[i]);
    }
    for (int i = 0; i < ENERGIES; i++) {
        total->energies[AUDIT_TOTAL][i] =
            known_plus(total->energies[AUDIT_TOTAL][i], row->energies[row->meter][i]);
    }
}

/* --- nodes' own records --------------------------------------------------------------------- */

static void audit_add_meter(double energies[ENERGIES], const struct hour_sum *hour)
{
    energies[METER_J] = known_plus(energies[METER_J], hour->energy_j);
    energies[IDLE_J] = known_plus(energies[IDLE_J], hour->idle_j);
    energies[UNATTRIBUTED_J] = known_plus(energies[UNATTRIBUTED_J], hour->unattributed_j);
    energies[STEPS_J] = known_plus(energies[STEPS_J], hour->steps_j);
}

static void audit_add_line(const struct audit *audit, const struct audit_line *line)
{
    struct audit_row *row = &audit->rows[line->row];
    double late_s = (double)(line->start_ns - row->day_ns) / NS_PER_S, *numbers = row->numbers;

    for (size_t i = 0; i < line->gap_count; i++) {
        audit_add_gaps(row, &audit->gaps[line->first_gap + i]);
    }
    numbers[LATE_S] = numbers[HOURS] == 0 ? late_s : fmin(numbers[LATE_S], late_s);
    numbers[HOURS]++;
    row->hours |= audit_hours(row, line->from_ns, line->end_ns);
    numbers[MEASURED_S] += line->measured_s;
    numbers[RESETS] += (double)line->resets;
    if (!isnan(line->idle_w)) {
        numbers[IDLE_SUM_J] += line->idle_w * line->measured_s;
        numbers[IDLE_S] += line->measured_s;
    }
    audit_add_meter(row->energies[AUDIT_TOTAL], &line->total);
    audit_add_meter(row->energies[AUDIT_NODE], &line->node_meter);
}

/* @return 0; -1 with ENOMEM */
static int audit_keep_line(struct audit *audit, const struct hour *hour, struct audit_line *line)
{
    bool meter = !isnan(hour->node_meter.energy_j);
    bool gap = hour->gap_count > 0 && hour->gaps[0].start_ns < hour->start_ns;

    *line = (struct audit_line){.row = line->row,
                                .start_ns = hour->start_ns,
                                .end_ns = hour->end_ns,
                                .from_ns = gap ? hour->gaps[0].start_ns : hour->start_ns,
                                .measured_s = hour->measured_s,
                                .idle_w = hour->idle_w,
                                .resets = hour->resets,
                                .total = hour->total,
                                .node_meter =
                                    meter ? hour->node_meter : hour->domains[APAPI_DOMAIN_NODE],
                                .first_gap = audit->gap_count,
                                .gap_count = hour->gap_count};
    for (size_t i = 0; i < hour->gap_count; i++) {
        uint32_t reason = pool_put(&audit->texts, hour->gaps[i].reason);

        if (reason == POOL_NONE || array_extend(&audit->gaps, audit->gap_count, 1, &audit->gap_room,
                                                sizeof *audit->gaps)) {
            return -1;
        }
        audit->gaps[audit->gap_count++] = (struct audit_gaps){reason, 1, hour->gaps[i].elapsed_s};
    }
    return 0;
}

/*
 * If several lines of a node begin at the same moment, the one that ends last counts: a line may be
 * in two files, and the checkpoint of an hour may have been written after the hour.
 */
static int audit_take_hour(const struct hour *hour, void *context)
{
    struct audit *audit = context;
    int64_t day_ns = audit_day_begin(hour->start_ns);
    bool present = hour->start_ns >= audit_day_end(audit, day_ns);
    struct audit_row *row;
    struct audit_line *line;
    char text[KEY_SIZE];
    uint32_t number;

    if (day_ns < audit->from_ns) {
        return 0;
    }
    if (present && hour->end_ns > audit->now_ns) {
        audit->open = true;
        return 0;
    }
    row = audit_find_row(audit, hour->cluster, hour->node, day_ns);
    snprintf(text, sizeof text, "%lld/%s/%s", (long long)hour->start_ns, hour->cluster, hour->node);
    number = pool_put_row(&audit->hours, text, &audit->lines, &audit->line_room, sizeof *line);
    if (!row || number == POOL_NONE) {
        return -1;
    }
    if (present && hour->end_ns > row->end_ns) { /* the sampler has ended in the present hour */
        row->end_ns = hour->end_ns;
    }
    line = &audit->lines[number];
    line->row = (uint32_t)(row - audit->rows);
    return hour->end_ns > line->end_ns ? audit_keep_line(audit, hour, line) : 0;
}

/* --- records of steps ----------------------------------------------------------------------- */

/* Add a record's part of each day, up to the time for which the node's own lines are expected. */
static int audit_take_record(const struct apapi_record *record, const char *line, size_t size,
                             void *context)
{
    struct audit *audit = context;
    const struct apapi_measurement *m = &record->measurement;
    int64_t from_ns = m->start_unix_ns, end_ns = from_ns + (int64_t)m->elapsed_ns, until_ns;
    uint64_t digest = record_digest(line, size);

    from_ns = from_ns < audit->from_ns ? audit->from_ns : from_ns;
    end_ns = end_ns < audit->to_ns ? end_ns : audit->to_ns;
    for (; from_ns < end_ns; from_ns = audit_day_begin(from_ns) + DAY_NS) {
        struct audit_row *row =
            audit_find_row(audit, record->id.cluster, record->id.node, audit_day_begin(from_ns));
        struct sum_piece *piece;

        until_ns = row && row->end_ns < end_ns ? row->end_ns : end_ns;
        if (row && until_ns <= from_ns) {
            audit->open = true;
            continue;
        }
        if (!row || sum_add(&audit->store, record, &(struct span){from_ns, until_ns})) {
            errno = ENOMEM;
            return -1;
        }
        piece = &audit->store.pieces[audit->store.piece_count - 1];
        piece->digest = digest;
        piece->mark = (uint32_t)(row - audit->rows);
    }
    return 0;
}

static int audit_compare_marks(const void *left, const void *right, void *pieces)
{
    const struct sum_piece *list = pieces;

    return COMPARE(list[*(const uint32_t *)left].mark, list[*(const uint32_t *)right].mark);
}

static int audit_add_row_shares(const struct sum_store *store, const uint32_t *numbers,
                                size_t count, struct audit_row *row)
{
    struct apapi_job_total total;
    struct sum_entries entries;
    int result = sum_gather(store, numbers, count, &entries);

    if (result == 0) {
        for (size_t i = 0; i < entries.count; i++) {
            const struct sum_piece *piece = entries.list[i].piece;
            int64_t end_ns = piece->start_ns + (int64_t)piece->elapsed_ns;

            row->numbers[SHARELESS] += piece->shareless;
            row->numbers[OUTSIDE] += row->hours && !piece->shareless &&
                                     (audit_hours(row, piece->start_ns, end_ns) & ~row->hours);
        }
        result = sum_total(store, &entries, &total);
        free(entries.list);
    }
    if (result == 0) {
        row->numbers[RECORDS] = (double)total.records;
        row->energies[AUDIT_TOTAL][SHARES_J] = total.energy_j;
        row->energies[AUDIT_NODE][SHARES_J] = total.domains[APAPI_DOMAIN_NODE].energy_j;
    }
    return result;
}

static int audit_add_shares(struct audit *audit)
{
    const struct sum_store *store = &audit->store;
    uint32_t *numbers = sum_numbers(store);
    int result = numbers ? 0 : -1;

    if (numbers) {
        qsort_r(numbers, store->piece_count, sizeof *numbers, audit_compare_marks, store->pieces);
    }
    for (size_t i = 0, end = 0; i < store->piece_count && result == 0; i = end) {
        uint32_t mark = store->pieces[numbers[i]].mark;

        while (end < store->piece_count && store->pieces[numbers[end]].mark == mark) {
            end++;
        }
        result = audit_add_row_shares(store, numbers + i, end - i, &audit->rows[mark]);
    }
    free(numbers);
    return result;
}

/* --- figures that follow from a row ----------------------------------------------------------- */

static double audit_percent(double value, double whole)
{
    return whole > 0 ? known_plus(value, 0) / whole * 100 : 0;
}

static void audit_evaluate(struct audit_row *row)
{
    const double *total = row->energies[AUDIT_TOTAL], *energies = row->energies[AUDIT_NODE];
    enum energy first = isnan(total[METER_J]) && isnan(energies[METER_J]) ? SHARES_J : METER_J;
    double *numbers = row->numbers;

    row->meter = isnan(total[first]) && !isnan(energies[first]) ? AUDIT_NODE : AUDIT_TOTAL;
    energies = row->energies[row->meter];
    if (row->day_ns && energies[METER_J] > 0 && numbers[OUTSIDE] == 0) {
        numbers[COMPARED_J] = energies[METER_J];
        numbers[ACCOUNTED_J] = known_plus(known_plus(energies[SHARES_J], energies[IDLE_J]),
                                          known_plus(energies[UNATTRIBUTED_J], 0));
    }
    row->closure_pct =
        numbers[COMPARED_J] > 0 ? numbers[ACCOUNTED_J] / numbers[COMPARED_J] * 100 : NAN;
    row->unmeasured_s = fmax(numbers[EXPECTED_S] - numbers[MEASURED_S], 0);
    row->worse = audit_percent(row->unmeasured_s, numbers[EXPECTED_S]) +
                 fabs(audit_percent(energies[UNATTRIBUTED_J], energies[METER_J])) +
                 fabs(100 - (isnan(row->closure_pct) ? 100 : row->closure_pct));
}

/* --- why not everything is accounted for ------------------------------------------------------ */

#define TOLERANCE 0.001 /* part of energy or time below which no explanation is needed */

/* Find the energy that a row's records lack or exceed. In a total, neither offsets the other. */
static void audit_find_lost(struct audit_row *row)
{
    const double *energies = row->energies[row->meter];
    double lacking_j = known_plus(energies[STEPS_J], 0) - known_plus(energies[SHARES_J], 0);
    double *numbers = row->numbers;

    if (numbers[HOURS] > 0 && fabs(lacking_j) > known_plus(energies[METER_J], 0) * TOLERANCE) {
        numbers[lacking_j < 0            ? EXCESS_J
                : numbers[SHARELESS] > 0 ? NOT_SHARED_J
                                         : LOST_J] = fabs(lacking_j);
    }
}

#define REASONS_SIZE 1024 /* "sampler down 19 min 59.0 s (2 times); meter reset 1" */

static void audit_explain_time(const struct audit *audit, const struct audit_row *row,
                               char reasons[REASONS_SIZE])
{
    const double *numbers = row->numbers;
    double least_s = numbers[EXPECTED_S] * TOLERANCE, unmeasured_s = row->unmeasured_s;
    char from[TIMESTAMP_SIZE];

    for (size_t i = 0; i < row->gap_count; i++) {
        const struct audit_gaps *gaps = &row->gaps[i];
        const char *text = pool_text(&audit->texts, gaps->reason);

        text_append(reasons, REASONS_SIZE, "; ", "%.100s %s%s", *text ? text : "no reason given",
                    units_duration(gaps->elapsed_s).text,
                    units_part(gaps->count > 1, " (%" PRIu64 " times)", gaps->count).text);
        unmeasured_s -= gaps->elapsed_s;
    }
    if (numbers[LATE_S] > least_s) {
        timestamp_format(from, sizeof from, row->day_ns + (int64_t)(numbers[LATE_S] * NS_PER_S));
        text_append(reasons, REASONS_SIZE, "; ", "no node sampler %s %.*s",
                    row->day_ns ? "before" : "yet", row->day_ns ? 5 : TIMESTAMP_SIZE,
                    row->day_ns ? from + strlen("2026-11-21T")
                                : units_duration(numbers[LATE_S]).text);
        unmeasured_s -= numbers[LATE_S];
    }
    if (unmeasured_s > least_s) {
        text_append(reasons, REASONS_SIZE, "; ", "%s %s",
                    numbers[HOURS] == 0 ? "no hours" : "hours missing",
                    units_duration(unmeasured_s).text);
    }
    if (numbers[RESETS] > 0) {
        text_append(reasons, REASONS_SIZE, "; ", "meter reset %.0f", numbers[RESETS]);
    }
}

static void audit_explain_energy(const struct audit_row *row, char reasons[REASONS_SIZE])
{
    static const char *const texts[NUMBERS] = {[SHARELESS] = "records without share",
                                               [OUTSIDE] = "records without hours",
                                               [LOST_J] = "no record",
                                               [NOT_SHARED_J] = "not in records",
                                               [EXCESS_J] = "records exceed hours"};

    for (int i = SHARELESS; i < NUMBERS; i++) {
        if (texts[i] && row->numbers[i] > 0) {
            text_append(reasons, REASONS_SIZE, "; ", "%s %s", texts[i],
                        i < LOST_J ? units_part(true, "%.0f", row->numbers[i]).text
                                   : units_quantity(row->numbers[i], "J").text);
        }
    }
}

/* --- the rows, the worst first ---------------------------------------------------------------- */

static int audit_compare(const void *left, const void *right, void *texts)
{
    const struct audit_row *a = left, *b = right;
    int order = COMPARE(b->worse, a->worse);

    order = order ? order : COMPARE(a->day_ns, b->day_ns);
    order = order ? order : strcmp(pool_text(texts, a->cluster), pool_text(texts, b->cluster));
    return order ? order : strverscmp(pool_text(texts, a->node), pool_text(texts, b->node));
}

/* Add up the records of steps, and sort the rows. @return 0; -1 with errno ENOMEM */
static int audit_settle(struct audit *audit)
{
    size_t kept = 0;

    if (audit_add_shares(audit)) {
        return -1;
    }
    for (size_t i = 0; i < audit->row_count; i++) {
        struct audit_row *row = &audit->rows[i];

        row->numbers[EXPECTED_S] = (double)(row->end_ns - row->day_ns) / NS_PER_S;
        audit_evaluate(row);
        audit_find_lost(row);
        /* Nothing is said of a row that has only the present hour. */
        if (row->numbers[RECORDS] > 0 || row->numbers[HOURS] > 0) {
            audit->rows[kept++] = *row;
            audit->clusters |= audit->csv || row->cluster != audit->rows->cluster;
        }
    }
    audit->row_count = kept;
    if (kept > 0) {
        qsort_r(audit->rows, kept, sizeof *audit->rows, audit_compare, &audit->texts);
    }
    return 0;
}

/* --- a table, and CSV ------------------------------------------------------------------------ */

static const struct table_column audit_columns[] = {
    {.title = "cluster", .key = "cluster"},
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

/* @param day  "": the row is a total */
static void audit_put(const struct table *table, const struct audit *audit,
                      const struct audit_row *row, const char *day)
{
    const double *energies = row->energies[row->meter], *numbers = row->numbers;
    char reasons[REASONS_SIZE] = "";

    audit_explain_time(audit, row, reasons);
    audit_explain_energy(row, reasons);
    table_put(table,
              (struct table_cell[]){
                  CELL_TEXT(*day && audit->clusters ? pool_text(&audit->texts, row->cluster) : ""),
                  CELL_TEXT(*day ? pool_text(&audit->texts, row->node) : "all"),
                  CELL_TEXT(day),
                  CELL_OR_BLANK(energies[METER_J]),
                  CELL_OR_BLANK(energies[SHARES_J]),
                  CELL_OR_BLANK(energies[IDLE_J]),
                  CELL_OR_BLANK(energies[UNATTRIBUTED_J]),
                  CELL(energies[STEPS_J]),
                  {.value = row->unmeasured_s, .text = row->unmeasured_s > 0 ? NULL : ""},
                  CELL_OR_BLANK(row->closure_pct),
                  CELL(numbers[IDLE_S] > 0 ? numbers[IDLE_SUM_J] / numbers[IDLE_S] : (double)NAN),
                  CELL(numbers[RECORDS]),
                  CELL(numbers[SHARELESS]),
                  CELL_TEXT(reasons),
              });
}

static int audit_print_table(const struct audit *audit, size_t count)
{
    struct table table =
        table_begin(audit_columns, COUNT_OF(audit_columns),
                    audit->csv ? TABLE_CSV : TABLE_FOR_PEOPLE, !audit->no_header, stdout);
    char day[TIMESTAMP_SIZE];

    for (size_t i = 0; i < count; i++) {
        timestamp_day(day, sizeof day, audit->rows[i].day_ns);
        audit_put(&table, audit, &audit->rows[i], day);
    }
    if (audit->row_count > 1 && !audit->csv) {
        struct audit_row total = audit_row_empty();

        for (size_t i = 0; i < audit->row_count; i++) {
            audit_total(&audit->rows[i], &total);
        }
        audit_evaluate(&total);
        audit_put(&table, audit, &total, "");
    }
    return table_end(&table, NULL);
}

/* --- the command ---------------------------------------------------------------------------- */

static const struct option_row rows[] = {
    {'S', "starttime", "=TIME", ", ", TO_TEXT(struct audit, query.from)},
    {'E', "endtime", "=TIME", "days (UTC) from the first to the second time",
     TO_TEXT(struct audit, query.to)},
    {'N', "nodelist", "=NODES", "only these nodes", TO_WORDS(struct audit, query.wanted.nodes)},
    {'M', "clusters", "=CLUSTER,...", "only these clusters",
     TO_WORDS(struct audit, query.wanted.cluster)},
    {0, "top", "=N", "the first N rows", TO_COUNT(struct audit, top)},
    {0, "csv", NULL, "for programs", TO_FLAG(struct audit, csv)},
    {'n', "noheader", NULL, "no line of titles", TO_FLAG(struct audit, no_header)},
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
    struct query *query = &audit->query;
    size_t count;
    int status;

    audit->now_ns = clock_unix_ns();
    audit->from_ns = audit_day_begin(query->wanted.from_unix_ns);
    audit->to_ns = audit_day_begin(query->wanted.to_unix_ns - 1) + DAY_NS;
    audit->store.shares = audit->store.mixed = true;
    query->wanted.from_unix_ns = audit->from_ns;
    query->wanted.to_unix_ns = audit->to_ns;
    status = records_read_hours(query, audit_take_hour, audit);
    for (size_t i = 0; i < audit->hours.count; i++) {
        audit_add_line(audit, &audit->lines[i]);
    }
    query->wanted.to_unix_ns =
        0; /* steps that ran in these days may have ended at any time after them */
    status = status ? status : records_read(query, audit_take_record, audit);
    if (status) {
        return status;
    }
    if (audit_settle(audit)) {
        return command_fail(COMMAND, "no memory");
    }
    if (audit->row_count == 0) {
        return command_fail(COMMAND, audit->open
                                         ? "nothing to audit yet: the current hour is still open"
                                         : "no node found in this time");
    }
    count = audit->top && audit->top < audit->row_count ? audit->top : audit->row_count;
    return command_end(COMMAND, audit_print_table(audit, count));
}

int audit_command(int argc, char **argv)
{
    static struct audit audit = {
        .query = {.command = COMMAND, .of_nodes = true, .from = "24h", .to = "now"}};
    int status = option_table_read(&table, argc, argv, &audit);

    if (status >= 0) {
        return status;
    }
    if (optind < argc) {
        return command_refuse(COMMAND, "takes no arguments: name a folder with --acct-dir");
    }
    status = records_begin(&audit.query);
    status = records_end(&audit.query, status ? status : audit_run(&audit));
    pool_free(&audit.texts);
    pool_free(&audit.hours);
    pool_free(&audit.keys);
    free(audit.lines);
    free(audit.gaps);
    free(audit.rows);
    sum_free(&audit.store);
    return status;
}
