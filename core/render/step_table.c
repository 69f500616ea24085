/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "base/units.h"
#include "record/members.h"
#include "record/record.h"
#include "render/domain_rows.h"
#include "render/regions.h"
#include "render/table.h"
#include "sum/members.h"
#include "sum/merge.h"

/* The input of all parts of a step's table. */
struct step_table {
    FILE *out;
    const struct apapi_table_head *head;
    const struct apapi_merge *merge;
    bool brief;  /* the time is too short for a power */
    bool failed; /* out of memory */
    struct merge_result sum;
};

/* --- the share -------------------------------------------------------------------------------- */

static void table_put_share(const struct step_table *table)
{
    const struct share_sum *sum = &table->merge->share;
    const struct apapi_share *share = &sum->share;
    const char *idle = !*share->idle           ? ""
                       : share_has_idle(share) ? ", idle power not known, included"
                       : share->idle[0] == 'c' ? ", idle power by cores"
                                               : ", idle power apart";

    if (sum->nodes == 0) {
        if (share->reason[0]) {
            fprintf(table->out, "  share of the step: not known, %s\n", share->reason);
        }
        return;
    }
    fprintf(table->out, "  share of the step: %s (%s%s)\n",
            units_energy(apapi_share_energy_j(share), apapi_share_uncertainty_j(share), false).text,
            share->method, idle);
    if (sum->lacking > 0) {
        fprintf(table->out, "  share not known on %zu of %zu nodes\n", sum->lacking,
                table->sum.expected);
    }
}

/* --- domains ---------------------------------------------------------------------------------- */

#define NODES_LISTED 4
#define NODE_COLUMNS 24

static void collect_rows(struct table_rows *rows, const struct step_table *table)
{
    const struct merge_result *sum = &table->sum;
    char label[48] = "total";

    if (sum->missing) {
        snprintf(label, sizeof label, "partial total");
    } else if (sum->total.nodes < sum->expected) {
        snprintf(label, sizeof label, "total of %zu node%s", sum->total.nodes,
                 text_plural(sum->total.nodes));
    }
    /* a percentile of several nodes' sum is not known */
    rows->columns = table->head->verbose && sum->recorded == 1 ? ROW_COLUMNS : ROW_P95;
    table_rows_collect(rows, sum->domains, &sum->total, label, table->brief);
}

/* Name domains that are not known on any node, although there are meters for them. */
static void put_unknown(const struct step_table *table)
{
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        const struct merge_domain *sum = &table->sum.domains[domain];

        if (apapi_domain_adds_up(domain) && sum->nodes == 0 && sum->unknown > 0) {
            fprintf(table->out, "  total without %s, whose energy is not known%s\n",
                    apapi_domain_name(domain),
                    units_part(table->sum.expected > 1, " on %zu of %zu nodes", sum->unknown,
                               table->sum.expected)
                        .text);
        }
    }
}

static void put_meaning(const struct table_rows *rows, const struct step_table *table)
{
    uint64_t bin_ns = 0; /* the widest */
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        bin_ns = rows->rows[i].sum.bin_ns > bin_ns ? rows->rows[i].sum.bin_ns : bin_ns;
    }
    if (table->brief) {
        table_put_brief(table->merge->window_ns, table->out);
        return;
    }
    if (table->sum.recorded < 2) {
        return;
    }
    if (bin_ns == 0) {
        fputs("  mean: energy by time; min, max: the nodes' own, added up\n", table->out);
        return;
    }
    fprintf(table->out, "  mean: energy by time; min, max: all nodes together, over %s\n",
            units_short((double)bin_ns / 1e9).text);
    for (size_t i = 0; i < rows->count; i++) { /* domains with sums of the nodes' extremes */
        const struct table_row *row = &rows->rows[i];

        if (!row->is_total && row->sum.nodes > 1 && row->sum.bin_ns == 0) {
            fprintf(table->out, "%s %s", count++ ? "," : "  min, max of", row->label);
        }
    }
    fputs(count ? ": the nodes' own, added up\n" : "", table->out);
}

static void put_footnotes(const struct table_rows *rows, const struct step_table *table)
{
    const struct merge_span *covered = &table->merge->covered;
    bool brackets = false;

    table_put_share(table);
    table_rows_put_coverage(
        rows, covered->least == covered->most ? coverage_pct(covered->least) : NAN, table->out);
    put_unknown(table);
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->rows[i].is_total && rows->rows[i].sum.nodes < table->sum.recorded) {
            fprintf(table->out, "  %s measured on %zu of %zu nodes\n", rows->rows[i].label,
                    rows->rows[i].sum.nodes, table->sum.expected);
        }
        brackets |= rows->rows[i].label[0] == '(';
    }
    if (brackets) {
        fputs("  in brackets: inside package or around other domains, not to be added\n",
              table->out);
    }
    put_meaning(rows, table);
}

static void put_node(struct text_line *line, const char *word, const struct merge_node *node)
{
    char name[APAPI_TEXT_SIZE];

    text_shorten(name, sizeof name, node->name, NODE_COLUMNS, NODE_COLUMNS / 2);
    text_item(line, line->column > 0 ? 3 : 2, "%s%s %s", word, name,
              units_energy(node->total_j, node->uncertainty_j, false).text);
}

/* Print the nodes with the least and the greatest energy, and the distribution. */
static void put_spread(struct text_line *line, const struct step_table *table)
{
    const struct merge_node *lowest = NULL, *highest = NULL;
    double mean_j = 0, squares = 0; /* sum of the squared distances from the mean */
    size_t count = 0;

    for (size_t i = 0; i < table->sum.recorded; i++) {
        const struct merge_node *node = table->sum.nodes[i];
        double distance_j = node->total_j - mean_j;

        if (!isnan(node->total_j)) {
            mean_j += distance_j / (double)++count;
            squares += distance_j * (node->total_j - mean_j);
            lowest = !lowest || node->total_j < lowest->total_j ? node : lowest;
            highest = !highest || node->total_j > highest->total_j ? node : highest;
        }
    }
    if (!lowest || !highest) {
        return;
    }
    put_node(line, "lowest ", lowest);
    put_node(line, "highest ", highest);
    if (count > 1 && mean_j > 0) { /* the deviation is in percent of the mean */
        text_item(line, 3, "mean %s, sd %.2g %%", units_quantity(mean_j, "J").text,
                  sqrt(squares / ((double)count - 1)) / mean_j * 100);
    }
}

static void table_put_nodes(struct text_line *line, const struct step_table *table)
{
    bool known = false;

    for (size_t i = 0; i < table->sum.recorded; i++) {
        known |= !isnan(table->sum.nodes[i]->total_j);
    }
    if (!known || table->sum.expected < 2) {
        return;
    }
    if (table->sum.recorded > NODES_LISTED) {
        put_spread(line, table);
        return;
    }
    for (size_t i = 0; i < table->sum.recorded; i++) {
        put_node(line, "", table->sum.nodes[i]);
    }
}

static struct units_text span_text(double least, double most, int decimals)
{
    return least < most ? units_part(true, "%.*f to %.*f", decimals, least, decimals, most)
                        : units_part(true, "%.*f", decimals, most);
}

/* @return coverage and samples; "": not known */
static struct units_text coverage_text(const struct step_table *table)
{
    const struct merge_span *covered = &table->merge->covered;
    const struct merge_span *samples = &table->merge->samples;

    return units_part(!isnan(covered->most), "covered %s %%, %s sample%s%s",
                      span_text(coverage_pct(covered->least), coverage_pct(covered->most), 1).text,
                      span_text(samples->least, samples->most, 0).text,
                      samples->most == 1 ? "" : "s", table->sum.recorded > 1 ? " per node" : "");
}

/* Put nodes at the left and coverage at the right of one line if they fit, otherwise on several. */
static void put_nodes_and_coverage(const struct step_table *table)
{
    struct text_line line = {table->out, 0};
    const struct units_text coverage = coverage_text(table);
    size_t length = strlen(coverage.text), gap = 2;

    table_put_nodes(&line, table);
    if (line.column > 0 && line.column + 3 + length <= TEXT_COLUMNS) {
        gap = TEXT_COLUMNS - line.column - length;
    } else if (line.column > 0 && length > 0) {
        fputc('\n', table->out);
        line.column = 0;
    }
    if (length > 0) {
        text_item(&line, gap, "%s", coverage.text);
    }
    if (line.column > 0) {
        fputc('\n', table->out);
    }
}

static void table_put_domains(struct step_table *table)
{
    struct table_rows rows = {.least_width = {8, 7, 7, 7, 7}};

    collect_rows(&rows, table);
    if (rows.count > 0) {
        table->failed |= table_rows_put(&rows, table->out) != 0;
        put_footnotes(&rows, table);
        table_put_shared(table->merge->id.cores, table->merge->id.node_cores, table->sum.recorded,
                         table->out);
    }
    put_nodes_and_coverage(table);
}

/* --- events ----------------------------------------------------------------------------------- */

#define LINES_MAX 20
#define NAME_WIDTH 36
#define NAME_TAIL 20
#define CELL_WIDTH 12

/* The mean, min and max of an event are in their columns; a total is in the last column. */
static const struct table_column event_columns[] = {
    {.title = "event", .width = NAME_WIDTH},
    {.title = "mean", .form = TABLE_RIGHT, .width = CELL_WIDTH, .kept = true},
    {.title = "min", .form = TABLE_RIGHT, .width = CELL_WIDTH, .kept = true},
    {.title = "max", .form = TABLE_RIGHT, .width = CELL_WIDTH, .most = CELL_WIDTH, .kept = true}};

static void table_put_event(const struct table *events, const struct merge_event *row)
{
    const struct apapi_event *event = &row->event;
    const char *unit = event->kind == APAPI_KIND_POWER ? "W" : event->unit;
    const char *mark = event->estimated ? " (estimated)" : "";
    const double values[] = {row->covered_s > 0 ? row->weighted / row->covered_s : NAN, row->min,
                             row->max};
    char name[APAPI_NAME_SIZE], texts[COUNT_OF(values)][UNITS_SIZE + 8] = {"", "", ""};

    text_shorten(name, sizeof name, event->name, NAME_WIDTH - strlen(mark), NAME_TAIL);
    strcat(name, mark);
    for (size_t i = 0; i < COUNT_OF(values) && !event->accumulates; i++) {
        const struct units_text whole = units_quantity(values[i], unit);
        bool fits = text_columns(whole.text) <= CELL_WIDTH;

        strcpy(texts[i], fits ? whole.text : units_quantity(values[i], "").text);
    }
    if (event->accumulates) {
        snprintf(texts[2], sizeof texts[2], "total %s", units_total(row->total, unit).text);
    }
    table_put(events, (struct table_cell[]){CELL_TEXT(name), CELL_TEXT(texts[0]),
                                            CELL_TEXT(texts[1]), CELL_TEXT(texts[2])});
}

static void table_put_events(struct step_table *table)
{
    const struct merge_rows *rows = &table->merge->event_rows;
    struct table events =
        table_begin(event_columns, COUNT_OF(event_columns), TABLE_FOR_PEOPLE, true, table->out);
    size_t lines = 0;

    events.width = 0;
    for (size_t i = 0; i < rows->keys.count; i++) {
        const struct apapi_event *event = &table->merge->events[i].event;

        if (!table->head->verbose && event->domain != APAPI_DOMAIN_NONE &&
            (event->kind == APAPI_KIND_ENERGY || event->kind == APAPI_KIND_POWER)) {
            continue; /* the line of its domain shows it already */
        }
        if (lines++ < LINES_MAX) {
            table_put_event(&events, &table->merge->events[i]);
        }
    }
    table->failed |= table_end(&events, NULL) != 0;
    if (lines > LINES_MAX) {
        fprintf(table->out, "  ... and %s%zu more (see the record)\n",
                rows->full ? "more than " : "", lines - LINES_MAX);
    } else if (rows->full) {
        fprintf(table->out, "  more than %zu events (see the record)\n", rows->keys.count);
    }
    for (size_t i = 0; i < table->merge->component_rows.keys.count; i++) {
        const struct apapi_component_result *component = &table->merge->components[i].first;

        if (component->user_rules && component->event_count == 0) {
            text_wrap(table->out, "%s has no event of the event list", component->name);
        }
    }
}

/* --- how reliable it is ----------------------------------------------------------------------- */

static void table_trust_put_component(FILE *out, const struct apapi_component_result *component)
{
    char apart[5 * UNITS_SIZE] = "";

    if (!isnan(component->period.mean_s)) {
        snprintf(apart, sizeof apart, ", %s apart (standard deviation %s, longest %s)",
                 units_short(component->period.mean_s).text,
                 units_short(component->period.sd_s).text,
                 units_short(component->period.longest_s).text);
    }
    text_wrap(out, "%s: %s, %zu event%s, interval %s, %" PRIu64 " readings%s, %" PRIu64 " missed",
              component->name, component->source, component->event_count,
              text_plural(component->event_count),
              units_short((double)component->interval_ns / 1e9).text, component->period.count + 1,
              apart, component->missed);
}

static void table_put_trust(const struct step_table *table)
{
    const struct apapi_merge *merge = table->merge;
    const struct apapi_incidents *sum = &merge->incidents;
    const struct merge_node *node = table->sum.nodes[0];
    const struct units_text share = units_share(node->uncertainty_j / node->total_j);

    if (!isnan(node->uncertainty_j)) {
        text_wrap(table->out,
                  "uncertainty of the total %s%s: the counters' update periods and the time not "
                  "covered",
                  units_quantity(node->uncertainty_j, "J").text,
                  units_part(*share.text, " (%s)", share.text).text);
    }
    for (size_t i = 0; i < merge->component_rows.keys.count; i++) {
        table_trust_put_component(table->out, &merge->components[i].first);
    }
    fprintf(table->out,
            "  wraps %" PRIu64 ", resets %" PRIu64 ", readings failed %" PRIu64 ", refused %" PRIu64
            ", gaps %" PRIu64 ", standstills %" PRIu64 "\n",
            sum->wraps, sum->resets, sum->failed, sum->refused, sum->gaps, sum->stalls);
    fprintf(table->out, "  the sampling thread used %s of CPU time%s\n",
            units_short((double)merge->cpu_ns / 1e9).text,
            units_part(merge->elapsed_ns > 0, " (%.2g %%)",
                       (double)merge->cpu_ns / (double)merge->elapsed_ns * 100)
                .text);
}

/* --- what was not measured -------------------------------------------------------------------- */

#define NAMES_COLUMNS 120
#define NOTES_LISTED 10
#define LATE_SHOWN_NS UINT64_C(10000000)

static void table_notes_put_note(const struct merge_note *note, struct step_table *table)
{
    const struct namelist nodes = {.names = note->names, .count = note->named};
    bool of_all = table->sum.expected < 2 || note->nodes == table->sum.recorded;
    char *names = hostlist_text(&nodes, NAMES_COLUMNS);
    char where[APAPI_TEXT_SIZE + 1024];

    table->failed |= !names;
    snprintf(
        where, sizeof where, *note->subject && of_all ? "%s" : "%s%s%s%s", note->subject,
        *note->subject ? " on " : "", names ? names : "",
        units_part(note->nodes > note->named, " and %zu others", note->nodes - note->named).text);
    text_wrap(table->out, *note->reason ? "%s%s%s%s (%s)" : "%s%s%s%s", where, *where ? ": " : "",
              note->verdict,
              units_part(note->outages > 0, " for %s in %" PRIu64 " outage%s",
                         units_duration((double)note->outage_ns / 1e9).text, note->outages,
                         text_plural(note->outages))
                  .text,
              note->reason);
    free(names);
}

static void table_notes_put_notes(struct step_table *table)
{
    const struct merge_rows *rows = &table->merge->note_rows;
    struct merge_note *notes = merge_notes_sorted(table->merge);
    size_t listed[MERGE_NOTE_KINDS] = {0}, left_out = 0;

    table->failed |= !notes;
    for (size_t i = 0; i < rows->keys.count && notes; i++) {
        if (listed[notes[i].kind]++ >= NOTES_LISTED) {
            left_out++;
        } else {
            table_notes_put_note(&notes[i], table);
        }
    }
    if (left_out > 0) {
        fprintf(table->out, "  ... and %s%zu more (see the records)\n",
                rows->full ? "more than " : "", left_out);
    }
    free(notes);
}

static void put_late(const struct step_table *table)
{
    uint64_t late_ns = table->merge->late_ns;
    const struct units_text duration = late_ns < UINT64_C(9999500000)
                                           ? units_part(true, "%.0f ms", (double)late_ns / 1e6)
                                           : units_duration((double)late_ns / 1e9);

    if (late_ns > LATE_SHOWN_NS) {
        text_wrap(table->out,
                  table->sum.recorded > 1 ? "first %s not covered on %s, less on others"
                                          : "first %s not covered",
                  duration.text, table->merge->latest->name);
    }
}

static void table_notes_put_incidents(const struct step_table *table)
{
    const struct apapi_incidents *sum = &table->merge->incidents;
    const struct {
        uint64_t count;
        const char *one, *many;
    } kinds[] = {{sum->failed, "reading failed", "readings failed"},
                 {sum->refused, "refused", "refused"},
                 {sum->resets, "reset", "resets"},
                 {sum->gaps, "gap", "gaps"},
                 {sum->stalls, "standstill", "standstills"},
                 {table->merge->missed, "tick missed", "ticks missed"}};
    const char *separator = "  ";

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (kinds[i].count > 0) {
            fprintf(table->out, "%s%" PRIu64 " %s", separator, kinds[i].count,
                    kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
            separator = ", ";
        }
    }
    fputs(*separator == ',' ? "\n" : "", table->out);
}

/* --- all -------------------------------------------------------------------------------------- */

#define NAME_COLUMNS 32

/* A task of an array job is named by the array's number: "28_1.0". */
static void table_put_step(struct text_line *line, const struct step_table *table)
{
    struct apapi_identity id = table->merge->id;
    bool part = id.het_job != APAPI_UNKNOWN ||
                (id.array_job != APAPI_UNKNOWN && id.array_task != APAPI_UNKNOWN);
    char step[APAPI_TEXT_SIZE];

    snprintf(step, sizeof step, "%s", table->head->step);
    if (part && *id.step && table->merge->nodes.count[MERGE_RECORDED] > 0) {
        if (id.het_offset == APAPI_UNKNOWN) { /* several components: name it as the first one's */
            id.het_offset = 0;
        }
        step_id_text(&id, step, sizeof step);
    }
    text_item(line, 1, "step %s", step);
}

/* Items after step and name are separated by two spaces. */
static size_t item_gap(const struct text_line *line)
{
    return line->column > strlen("apapi:") ? 2 : 1;
}

/* @return the time to show; for a step, the time by which its energy is divided. */
static double table_elapsed_s(const struct step_table *table)
{
    double busy_s = table->sum.busy_s;

    if (!isnan(table->head->elapsed_s)) {
        return table->head->elapsed_s;
    }
    if (isnan(busy_s) && table->sum.recorded > 0) {
        return (double)table->merge->elapsed_ns / NS_PER_S;
    }
    return busy_s;
}

static void table_put_headline(const struct step_table *table)
{
    const struct apapi_table_head *head = table->head;
    const size_t expected = table->sum.expected, missing = expected - table->sum.recorded;
    struct text_line line = {table->out, strlen("apapi:")};
    char name[APAPI_TEXT_SIZE];

    fputs("apapi:", table->out);
    if (head->step) {
        table_put_step(&line, table);
    }
    if (head->name && *head->name) {
        text_shorten(name, sizeof name, head->name, NAME_COLUMNS, 0);
        text_item(&line, 1, "\"%s\"", name);
    }
    if (expected > 1 || missing > 0) {
        text_item(&line, item_gap(&line), "%zu node%s%s", expected, text_plural(expected),
                  units_part(missing > 0, ", %zu missing", missing).text);
    }
    if (!isnan(table_elapsed_s(table))) {
        text_item(&line, item_gap(&line), "%s", units_duration(table_elapsed_s(table)).text);
    }
    for (size_t i = 0; i < table->merge->component_rows.keys.count; i++) {
        const struct apapi_component_result *component = &table->merge->components[i].first;

        text_item(&line, item_gap(&line), "%s (%s)", component->name, component->source);
    }
    fputc('\n', table->out);
}

static void table_put_times(const struct step_table *table)
{
    struct text_line line = {table->out, 0};
    const struct apapi_table_head *head = table->head;

    if (isnan(head->user_s)) {
        return;
    }
    text_item(&line, 2, "elapsed %s", units_duration(table_elapsed_s(table)).text);
    text_item(&line, 3, "user %s", units_duration(head->user_s).text);
    text_item(&line, 3, "system %s", units_duration(head->system_s).text);
    if (head->peak_bytes > 0) {
        text_item(&line, 3, "peak memory %s", units_bytes(head->peak_bytes).text);
    }
    fputc('\n', table->out);
}

static void table_put_all_regions(struct step_table *table)
{
    struct apapi_regions regions = {0};

    table->failed |=
        region_sums_result(&table->merge->regions, APAPI_REGIONS_MAX, &regions) ||
        table_put_regions(&regions, table->sum.total.energy_j, table->head->step, table->out);
    apapi_regions_clear(&regions);
}

static void table_put_all(struct step_table *table)
{
    bool node_alone = table->sum.total.nodes == 0;
    const struct merge_domain *energy =
        node_alone ? &table->sum.domains[APAPI_DOMAIN_NODE] : &table->sum.total;

    table_put_headline(table);
    table_put_domains(table);
    table_put_events(table);
    table_put_all_regions(table);
    table_notes_put_notes(table);
    put_late(table);
    table_notes_put_incidents(table);
    table_put_doubt(table->merge, node_alone, energy->uncertainty_j / energy->energy_j, table->out);
    if (table->head->note) {
        text_wrap(table->out, "%s", table->head->note);
    }
    if (table->head->verbose && table->sum.recorded == 1) {
        table_put_trust(table);
    }
    table_put_times(table);
    if (table->head->end) {
        text_wrap(table->out, "%s", table->head->end);
    }
}

int apapi_table_format(const struct apapi_merge *merge, const struct apapi_table_head *head,
                       char **text, struct apapi_error *err)
{
    struct step_table table = {
        .head = head, .merge = merge, .brief = merge->elapsed_ns < merge->window_ns};
    char *result = NULL;
    size_t size;

    if (merge_work_out(merge, &table.sum) == 0) {
        table.sum.expected = head->nodes > table.sum.expected ? head->nodes : table.sum.expected;
        table.out = open_memstream(&result, &size);
        if (table.out) {
            table_put_all(&table);
        }
        result = text_of_stream(table.out, &result, table.failed ? -1 : 0);
        free(table.sum.nodes);
    }
    if (!result) {
        return apapi_fail(err, ENOMEM, "table: out of memory");
    }
    *text = result;
    return 0;
}
