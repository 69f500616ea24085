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
#include "sum/members.h"
#include "sum/merge.h"

/* The input of all parts of a step's table. */
struct step_table {
    FILE *out;
    const struct apapi_table_head *head;
    const struct apapi_merge *merge;
    bool brief; /* too short for a power */
    struct merge_result sum;
};

/* --- the share -------------------------------------------------------------------------------- */

static const char *table_share_idle(const struct apapi_share *share)
{
    if (share->idle[0] == '\0') {
        return "";
    }
    if (share_has_idle(share)) {
        return ", idle power not known, included";
    }
    return share->idle[0] == 'c' ? ", idle power by cores" : ", idle power apart";
}

static void table_put_share(const struct step_table *table)
{
    const struct share_sum *sum = &table->merge->share;
    const struct apapi_share *share = &sum->share;
    char energy[UNITS_SIZE + UNITS_SHARE_SIZE];

    if (sum->nodes == 0) {
        if (share->reason[0]) {
            fprintf(table->out, "  share of the step: not known, %s\n", share->reason);
        }
        return;
    }
    units_known_quantity(energy, sizeof(energy), apapi_share_energy_j(share),
                         apapi_share_uncertainty_j(share), "J");
    units_beside(energy, sizeof energy,
                 apapi_share_uncertainty_j(share) / apapi_share_energy_j(share), false);
    fprintf(table->out, "  share of the step: %s (%s%s)\n", energy, share->method,
            table_share_idle(share));
    if (sum->lacking > 0) {
        fprintf(table->out, "  share not known on %zu of %zu nodes\n", sum->lacking,
                table->sum.expected);
    }
}

/* --- domains ---------------------------------------------------------------------------------- */

#define NODES_LISTED 4
#define NODE_COLUMNS 24
#define NODE_SIZE (APAPI_TEXT_SIZE + 64)

static void collect_rows(struct table_rows *rows, const struct step_table *table)
{
    const struct merge_result *sum = &table->sum;
    char label[48] = "total";

    if (sum->missing) {
        snprintf(label, sizeof label, "partial total");
    } else if (sum->total.nodes < sum->expected) {
        snprintf(label, sizeof label, "total of %zu node%s", sum->total.nodes,
                 sum->total.nodes == 1 ? "" : "s");
    }
    /* a percentile of several nodes' sum is not known */
    rows->columns = table->head->verbose && sum->recorded == 1 ? ROW_COLUMNS : ROW_P95;
    table_rows_collect(rows, sum->domains, &sum->total, label, table->brief);
}

/* Domains that no node knows, although there are meters for them. */
static void put_unknown(const struct step_table *table)
{
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        const struct merge_domain *sum = &table->sum.domains[domain];

        if (!apapi_domain_adds_up(domain) || sum->nodes > 0 || sum->unknown == 0) {
            continue;
        }
        fprintf(table->out, "  total without %s, whose energy is not known",
                apapi_domain_name(domain));
        if (table->sum.expected > 1) {
            fprintf(table->out, " on %zu of %zu nodes", sum->unknown, table->sum.expected);
        }
        fputc('\n', table->out);
    }
}

static void put_meaning(const struct table_rows *rows, const struct step_table *table)
{
    uint64_t bin_ns = 0; /* the widest */
    size_t count = 0;
    char width[UNITS_SIZE];

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
    units_short(width, sizeof(width), (double)bin_ns / 1e9);
    fprintf(table->out, "  mean: energy by time; min, max: all nodes together, over %s\n", width);
    for (size_t i = 0; i < rows->count; i++) { /* sums of the nodes' own extremes */
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
    }
    for (size_t i = 0; i < rows->count; i++) {
        brackets |= rows->rows[i].label[0] == '(';
    }
    if (brackets) {
        fputs("  in brackets: inside package or around other domains, not to be added\n",
              table->out);
    }
    put_meaning(rows, table);
}

/* The part about single nodes. */
struct node_texts {
    char texts[NODES_LISTED][NODE_SIZE];
    size_t count;
};

static void table_domains_add_node(struct node_texts *nodes, const char *word,
                                   const struct merge_node *node)
{
    char clean[APAPI_TEXT_SIZE];
    char name[APAPI_TEXT_SIZE];
    char energy[UNITS_SIZE + UNITS_SHARE_SIZE];

    text_clean(clean, sizeof(clean), node->name);
    text_shorten(name, sizeof(name), clean, NODE_COLUMNS, NODE_COLUMNS / 2);
    units_known_quantity(energy, sizeof(energy), node->total_j, node->uncertainty_j, "J");
    units_beside(energy, sizeof(energy), node->uncertainty_j / node->total_j, false);
    snprintf(nodes->texts[nodes->count++], NODE_SIZE, "%s%s %s", word, name, energy);
}

/* Those of the least and the greatest energy, and the distribution. */
static void add_spread(struct node_texts *nodes, const struct step_table *table)
{
    const struct merge_node *lowest = NULL, *highest = NULL;
    double mean_j = 0, squares = 0; /* of distances from the mean */
    char mean[UNITS_SIZE];
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
    table_domains_add_node(nodes, "lowest ", lowest);
    table_domains_add_node(nodes, "highest ", highest);
    units_quantity(mean, sizeof(mean), mean_j, "J");
    if (count > 1 && mean_j > 0) { /* the deviation in percent of it */
        snprintf(nodes->texts[nodes->count++], NODE_SIZE, "mean %s, sd %.2g %%", mean,
                 sqrt(squares / ((double)count - 1)) / mean_j * 100);
    }
}

static void collect_nodes(struct node_texts *nodes, const struct step_table *table)
{
    bool known = false;

    for (size_t i = 0; i < table->sum.recorded; i++) {
        known |= !isnan(table->sum.nodes[i]->total_j);
    }
    if (!known || table->sum.expected < 2) {
        return;
    }
    if (table->sum.recorded > NODES_LISTED) {
        add_spread(nodes, table);
        return;
    }
    for (size_t i = 0; i < table->sum.recorded; i++) {
        table_domains_add_node(nodes, "", table->sum.nodes[i]);
    }
}

static void format_span(char *text, size_t size, double least, double most, int decimals)
{
    if (least < most) {
        snprintf(text, size, "%.*f to %.*f", decimals, least, decimals, most);
    } else {
        snprintf(text, size, "%.*f", decimals, most);
    }
}

static void format_coverage(char *text, size_t size, const struct step_table *table)
{
    const struct merge_span *covered = &table->merge->covered;
    const struct merge_span *samples = &table->merge->samples;
    char shares[64];
    char counts[64];

    text[0] = '\0';
    if (isnan(covered->most)) {
        return;
    }
    format_span(shares, sizeof(shares), coverage_pct(covered->least), coverage_pct(covered->most),
                1);
    format_span(counts, sizeof(counts), samples->least, samples->most, 0);
    snprintf(text, size, "covered %s %%, %s sample%s%s", shares, counts,
             samples->most == 1 ? "" : "s", table->sum.recorded > 1 ? " per node" : "");
}

/* Put nodes at the left and coverage at the right of one line if they fit, otherwise on several. */
static void put_nodes_and_coverage(const struct step_table *table)
{
    struct text_line line = {table->out, 0};
    struct node_texts nodes = {0};
    char coverage[192];
    size_t gap = 2;

    collect_nodes(&nodes, table);
    format_coverage(coverage, sizeof(coverage), table);
    for (size_t i = 0; i < nodes.count; i++, gap = 3) {
        text_item(&line, gap, nodes.texts[i]);
    }
    if (nodes.count > 0 && *coverage) {
        if (line.column + 3 + strlen(coverage) <= TEXT_COLUMNS) {
            gap = TEXT_COLUMNS - line.column - strlen(coverage);
        } else {
            fputc('\n', table->out);
            line.column = 0;
            gap = 2;
        }
    }
    if (*coverage) {
        text_item(&line, gap, coverage);
    }
    if (line.column > 0) {
        fputc('\n', table->out);
    }
}

static int table_put_domains(const struct step_table *table)
{
    struct table_rows rows = {.least_width = {8, 7, 7, 7, 7}};

    collect_rows(&rows, table);
    if (rows.count > 0) {
        if (table_rows_put(&rows, table->out)) {
            return -1;
        }
        put_footnotes(&rows, table);
        table_put_shared(table->merge->id.cores, table->merge->id.node_cores, table->sum.recorded,
                         table->out);
    }
    put_nodes_and_coverage(table);
    return 0;
}

/* --- events ----------------------------------------------------------------------------------- */

#define LINES_MAX 20
#define NAME_WIDTH 36
#define NAME_TAIL 20
#define CELL_WIDTH 12

static void table_events_put_name(FILE *out, const struct apapi_event *event)
{
    const char *mark = event->estimated ? " (estimated)" : "";
    const int width = NAME_WIDTH - (int)strlen(mark);
    char clean[APAPI_NAME_SIZE];
    char text[APAPI_NAME_SIZE];

    text_clean(clean, sizeof(clean), event->name);
    text_shorten(text, sizeof(text), clean, width, NAME_TAIL);
    fprintf(out, "  %s%s%*s", text, mark, width - (int)text_columns(text), "");
}

static void table_events_put_cell(FILE *out, const char *text, int width)
{
    int columns = (int)text_columns(text);

    fprintf(out, "  %*s%s", columns < width ? width - columns : 0, "", text);
}

static void put_gauge(FILE *out, const struct merge_event *row, const char *unit)
{
    const double values[] = {row->covered_s > 0 ? row->weighted / row->covered_s : NAN, row->min,
                             row->max};

    for (size_t i = 0; i < COUNT_OF(values); i++) {
        char cell[UNITS_SIZE];
        char clean[UNITS_SIZE];

        units_quantity(cell, sizeof(cell), values[i], unit);
        text_clean(clean, sizeof(clean), cell);
        if (text_columns(clean) > CELL_WIDTH) {
            units_quantity(clean, sizeof(clean), values[i], "");
        }
        table_events_put_cell(out, clean, CELL_WIDTH);
    }
}

static void table_put_events(const struct step_table *table)
{
    const struct merge_rows *rows = &table->merge->event_rows;
    size_t lines = 0;

    for (size_t i = 0; i < rows->keys.count; i++) {
        const struct merge_event *row = &table->merge->events[i];
        const char *unit = row->event.kind == APAPI_KIND_POWER ? "W" : row->event.unit;

        if (!table->head->verbose && row->event.domain != APAPI_DOMAIN_NONE &&
            (row->event.kind == APAPI_KIND_ENERGY || row->event.kind == APAPI_KIND_POWER)) {
            continue; /* the line of its domain has said it */
        }
        if (lines == 0) {
            fprintf(table->out, "  %-*s  %*s  %*s  %*s\n", NAME_WIDTH, "event", CELL_WIDTH, "mean",
                    CELL_WIDTH, "min", CELL_WIDTH, "max");
        }
        if (lines++ < LINES_MAX) {
            table_events_put_name(table->out, &row->event);
            if (row->event.accumulates) {
                char total[UNITS_SIZE], clean[UNITS_SIZE], cell[UNITS_SIZE + 8];

                units_total(total, sizeof(total), row->total, unit);
                text_clean(clean, sizeof(clean), total);
                snprintf(cell, sizeof(cell), "total %s", clean);
                table_events_put_cell(table->out, cell, 3 * CELL_WIDTH + 4);
            } else {
                put_gauge(table->out, row, unit);
            }
            fputc('\n', table->out);
        }
    }
    if (lines > LINES_MAX || rows->full) {
        fprintf(table->out, "  ... and %s%zu more (see the record)\n",
                rows->full ? "more than " : "", lines > LINES_MAX ? lines - LINES_MAX : 0);
    }
}

/* --- how reliable it is ----------------------------------------------------------------------- */

#define SENTENCE_SIZE 512

static void table_trust_put_uncertainty(FILE *out, const struct merge_node *node)
{
    char quantity[UNITS_SIZE];
    char share[32] = "";
    char text[SENTENCE_SIZE];

    if (isnan(node->uncertainty_j)) {
        return;
    }
    units_quantity(quantity, sizeof(quantity), node->uncertainty_j, "J");
    if (node->total_j > 0) {
        snprintf(share, sizeof(share), " (%.2g %%)", node->uncertainty_j / node->total_j * 100);
    }
    snprintf(text, sizeof(text),
             "uncertainty of the total %s%s: the counters' update periods and the time not covered",
             quantity, share);
    text_wrap(out, text);
}

static void table_trust_put_component(FILE *out, const struct apapi_component_result *component)
{
    char text[SENTENCE_SIZE];
    char apart[5 * UNITS_SIZE] = "", mean[UNITS_SIZE], sd[UNITS_SIZE], longest[UNITS_SIZE];
    char interval[UNITS_SIZE];

    if (!isnan(component->period.mean_s)) {
        units_short(mean, sizeof(mean), component->period.mean_s);
        units_short(sd, sizeof(sd), component->period.sd_s);
        units_short(longest, sizeof(longest), component->period.longest_s);
        snprintf(apart, sizeof apart, ", %s apart (standard deviation %s, longest %s)", mean, sd,
                 longest);
    }
    units_short(interval, sizeof(interval), (double)component->interval_ns / 1e9);
    snprintf(text, sizeof(text),
             "%s: %s, %zu event%s, interval %s, %" PRIu64 " readings%s, %" PRIu64 " missed",
             component->name, component->source, component->event_count,
             component->event_count == 1 ? "" : "s", interval, component->period.count + 1, apart,
             component->missed);
    text_wrap(out, text);
}

static void table_put_trust(const struct step_table *table)
{
    const struct apapi_merge *merge = table->merge;
    const struct apapi_incidents *sum = &merge->incidents;
    char used[UNITS_SIZE];

    table_trust_put_uncertainty(table->out, table->sum.nodes[0]);
    for (size_t i = 0; i < merge->component_rows.keys.count; i++) {
        table_trust_put_component(table->out, &merge->components[i].first);
    }
    fprintf(table->out,
            "  wraps %" PRIu64 ", resets %" PRIu64 ", readings failed %" PRIu64 ", refused %" PRIu64
            ", gaps %" PRIu64 ", standstills %" PRIu64 "\n",
            sum->wraps, sum->resets, sum->failed, sum->refused, sum->gaps, sum->stalls);
    units_short(used, sizeof(used), (double)merge->cpu_ns / 1e9);
    fprintf(table->out, "  the sampling thread used %s of CPU time", used);
    if (merge->elapsed_ns > 0) {
        fprintf(table->out, " (%.2g %%)", (double)merge->cpu_ns / (double)merge->elapsed_ns * 100);
    }
    fputc('\n', table->out);
}

/* --- what was not measured -------------------------------------------------------------------- */

#define NAMES_COLUMNS 120
#define NOTES_LISTED 10
#define LATE_SHOWN_NS UINT64_C(10000000)

static int table_notes_put_note(const struct merge_note *note, const struct step_table *table)
{
    char *text = NULL, duration[UNITS_SIZE];
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out) {
        bool of_all = table->sum.expected < 2 || note->nodes == table->sum.recorded;

        fputs(note->subject, out);
        if (*note->subject == '\0' || !of_all) {
            size_t unnamed = note->nodes - note->named;

            fputs(*note->subject ? " on " : "", out);
            hostlist_put(out, note->names, note->named, NAMES_COLUMNS);
            if (unnamed > 0) {
                fprintf(out, " and %zu others", unnamed);
            }
        }
        fprintf(out, ": %s", note->verdict);
        if (note->outages > 0) {
            units_duration(duration, sizeof(duration), (double)note->outage_ns / 1e9);
            fprintf(out, " for %s in %" PRIu64 " outage%s", duration, note->outages,
                    note->outages == 1 ? "" : "s");
        }
        if (*note->reason) {
            fprintf(out, " (%s)", note->reason);
        }
    }
    if (!text_of_stream(out, &text, 0)) {
        return -1;
    }
    text_wrap(table->out, text[0] == ':' ? text + 2 : text);
    free(text);
    return 0;
}

static int table_notes_put_notes(const struct step_table *table)
{
    const struct merge_rows *rows = &table->merge->note_rows;
    struct merge_note *notes = merge_notes_sorted(table->merge);
    size_t listed[MERGE_NOTE_KINDS] = {0}, left_out = 0;
    int rc = notes ? 0 : -1;

    for (size_t i = 0; i < rows->keys.count && rc == 0; i++) {
        if (listed[notes[i].kind]++ >= NOTES_LISTED) {
            left_out++;
        } else {
            rc = table_notes_put_note(&notes[i], table);
        }
    }
    if (left_out > 0) {
        fprintf(table->out, "  ... and %s%zu more (see the records)\n",
                rows->full ? "more than " : "", left_out);
    }
    free(notes);
    return rc;
}

static void put_late(const struct step_table *table)
{
    uint64_t late_ns = table->merge->late_ns;
    char duration[UNITS_SIZE];
    char text[APAPI_TEXT_SIZE + 128];

    if (late_ns <= LATE_SHOWN_NS) {
        return;
    }
    if (late_ns < UINT64_C(9999500000)) {
        snprintf(duration, sizeof(duration), "%.0f ms", (double)late_ns / 1e6);
    } else {
        units_duration(duration, sizeof(duration), (double)late_ns / 1e9);
    }
    if (table->sum.recorded > 1) {
        snprintf(text, sizeof(text), "first %s not covered on %s, less on others", duration,
                 table->merge->latest->name);
    } else {
        snprintf(text, sizeof(text), "first %s not covered", duration);
    }
    text_wrap(table->out, text);
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

#define POSSIBLE_SHARE 0.05
#define SHORT_READINGS 30

/* @return whether there is an integral of a power in what is the step's energy. */
static bool is_of_gauges(const struct step_table *table, bool node_alone)
{
    for (size_t i = 0; i < table->merge->event_rows.keys.count; i++) {
        const struct apapi_event *event = &table->merge->events[i].event;

        if (event->kind == APAPI_KIND_POWER && !event->accumulates &&
            (event->domain == APAPI_DOMAIN_NODE ? node_alone
                                                : apapi_domain_adds_up(event->domain))) {
            return true;
        }
    }
    return false;
}

/* Of an energy that may be wrong by more than its uncertainty, where that is large already. */
static void put_possible_error(const struct step_table *table)
{
    double readings = table->merge->samples.least + 1;
    bool node_alone = table->sum.total.nodes == 0;
    const struct merge_domain *energy =
        node_alone ? &table->sum.domains[APAPI_DOMAIN_NODE] : &table->sum.total;

    if (table->merge->incidents.rough > 0 &&
        energy->uncertainty_j > POSSIBLE_SHARE * energy->energy_j) {
        fprintf(table->out, "  %s%.0f readings%s: errors above 5 %% are possible\n",
                readings < SHORT_READINGS ? "short run, " : "", readings,
                is_of_gauges(table, node_alone) ? " of a power meter" : "");
    }
}

static int table_put_notes(const struct step_table *table)
{
    if (table_notes_put_notes(table) < 0) {
        return -1;
    }
    put_late(table);
    table_notes_put_incidents(table);
    put_possible_error(table);
    if (table->head->note) {
        text_wrap(table->out, table->head->note);
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

#define NAME_COLUMNS 32

/* A task of an array job is named by the array's number: "28_1.0". */
static bool is_part(const struct apapi_merge *merge, const struct apapi_identity *id)
{
    return merge->nodes.count[MERGE_RECORDED] > 0 && *id->step &&
           ((id->array_job != APAPI_UNKNOWN && id->array_task != APAPI_UNKNOWN) ||
            id->het_job != APAPI_UNKNOWN);
}

static void table_put_step(struct text_line *line, const struct step_table *table)
{
    struct apapi_identity id = table->merge->id;
    char step[APAPI_TEXT_SIZE - sizeof "step "];
    char text[APAPI_TEXT_SIZE];
    char clean[APAPI_TEXT_SIZE];

    if (is_part(table->merge, &id)) {
        if (id.het_offset == APAPI_UNKNOWN) { /* of several components: as the first one's */
            id.het_offset = 0;
        }
        step_id_text(&id, step, sizeof(step));
    } else {
        snprintf(step, sizeof(step), "%s", table->head->step);
    }
    snprintf(text, sizeof(text), "step %s", step);
    text_clean(clean, sizeof(clean), text);
    text_item(line, 1, clean);
}

/* Items after step and name are separated by two spaces. */
static void put_item(struct text_line *line, const char *item)
{
    text_item(line, line->column > strlen("apapi:") ? 2 : 1, item);
}

/* Of a step the time by which its energy is divided. */
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

static void table_put_nodes(struct text_line *line, const struct step_table *table)
{
    size_t missing = table->sum.expected - table->sum.recorded;
    char text[64];
    int length;

    if (table->sum.expected < 2 && missing == 0) {
        return;
    }
    length = snprintf(text, sizeof(text), "%zu node%s", table->sum.expected,
                      table->sum.expected == 1 ? "" : "s");
    if (missing > 0) {
        snprintf(text + length, sizeof(text) - length, ", %zu missing", missing);
    }
    put_item(line, text);
}

static void table_put_headline(const struct step_table *table)
{
    const struct apapi_table_head *head = table->head;
    struct text_line line = {table->out, strlen("apapi:")};
    char elapsed[UNITS_SIZE];

    fputs("apapi:", table->out);
    if (head->step) {
        table_put_step(&line, table);
    }
    if (head->name && *head->name) {
        char clean[APAPI_TEXT_SIZE];
        char short_name[APAPI_TEXT_SIZE];
        char quoted[APAPI_TEXT_SIZE + 2];

        text_clean(clean, sizeof(clean), head->name);
        text_shorten(short_name, sizeof(short_name), clean, NAME_COLUMNS, 0);
        snprintf(quoted, sizeof(quoted), "\"%s\"", short_name);
        text_item(&line, 1, quoted);
    }
    table_put_nodes(&line, table);
    if (!isnan(table_elapsed_s(table))) {
        units_duration(elapsed, sizeof elapsed, table_elapsed_s(table));
        put_item(&line, elapsed);
    }
    for (size_t i = 0; i < table->merge->component_rows.keys.count; i++) {
        const struct apapi_component_result *component = &table->merge->components[i].first;
        char text[sizeof component->name + sizeof component->source + 8];
        char clean[sizeof(text)];

        snprintf(text, sizeof(text), "%s (%s)", component->name, component->source);
        text_clean(clean, sizeof(clean), text);
        put_item(&line, clean);
    }
    fputc('\n', table->out);
}

static void table_put_duration(struct text_line *line, const char *word, double seconds)
{
    char text[UNITS_SIZE + 16];
    char duration[UNITS_SIZE];

    units_duration(duration, sizeof(duration), seconds);
    snprintf(text, sizeof(text), "%s %s", word, duration);
    text_item(line, line->column ? 3 : 2, text);
}

static void table_put_times(const struct step_table *table)
{
    struct text_line line = {table->out, 0};
    char text[UNITS_SIZE + 16];
    char size[UNITS_SIZE];

    if (isnan(table->head->user_s)) {
        return;
    }
    table_put_duration(&line, "elapsed", table_elapsed_s(table));
    table_put_duration(&line, "user", table->head->user_s);
    table_put_duration(&line, "system", table->head->system_s);
    if (table->head->peak_bytes > 0) {
        units_bytes(size, sizeof(size), table->head->peak_bytes);
        snprintf(text, sizeof(text), "peak memory %s", size);
        text_item(&line, 3, text);
    }
    fputc('\n', table->out);
}

static int table_put_all_regions(const struct step_table *table)
{
    struct apapi_regions regions;
    int result;

    if (region_sums_result(&table->merge->regions, APAPI_REGIONS_MAX, &regions) < 0) {
        return -1;
    }
    result = table_put_regions(&regions, table->sum.total.energy_j, table->head->step, table->out);
    apapi_regions_clear(&regions);
    return result;
}

static int table_put_all(const struct step_table *table)
{
    table_put_headline(table);
    if (table_put_domains(table)) {
        return -1;
    }
    table_put_events(table);
    if (table_put_all_regions(table) < 0 || table_put_notes(table) < 0) {
        return -1;
    }
    if (table->head->verbose && table->sum.recorded == 1) {
        table_put_trust(table);
    }
    table_put_times(table);
    if (table->head->end) {
        text_wrap(table->out, table->head->end);
    }
    return 0;
}

int apapi_table_format(const struct apapi_merge *merge, const struct apapi_table_head *head,
                       char **text, struct apapi_error *err)
{
    struct step_table table = {.head = head,
                               .merge = merge,
                               .brief =
                                   window_is_longer(merge->window_ns, (double)merge->elapsed_ns)};
    char *result = NULL;
    size_t size;

    if (merge_work_out(merge, &table.sum) == 0) {
        table.sum.expected = head->nodes > table.sum.expected ? head->nodes : table.sum.expected;
        table.out = open_memstream(&result, &size);
        result = text_of_stream(table.out, &result, table.out ? table_put_all(&table) : -1);
        free(table.sum.nodes);
    }
    if (!result) {
        return apapi_fail(err, ENOMEM, "table: out of memory");
    }
    *text = result;
    return 0;
}
