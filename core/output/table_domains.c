/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "output/table_parts.h"
#include "output/table_rows.h"
#include "record/record.h"

#define NODES_LISTED 4
#define NODE_COLUMNS 24
#define NODE_SIZE (APAPI_TEXT_SIZE + 64)

static void set_values(struct table_row *row, const struct merge_domain *sum, bool brief)
{
    table_row_set(row, sum->energy_j, sum->uncertainty_j, &sum->power_w, brief);
    row->bin_ns = brief ? 0 : sum->bin_ns;
    row->covered = sum->covered;
    row->rest_j = sum->rest_j;
}

/* Whether the step is too short for a power. */
static bool table_domains_is_brief(const struct table *table)
{
    return window_is_longer(table->merge->window_ns, table->merge->elapsed_s * 1e9);
}

static void table_domains_add_domain(struct table_rows *rows, const struct table *table,
                                     enum apapi_domain domain)
{
    struct table_row *row = &rows->rows[rows->count];
    struct merge_domain sum;

    merge_domain(table->merge, domain, &sum);
    if (sum.nodes == 0) {
        return;
    }
    table_row_name(row, domain);
    set_values(row, &sum, table_domains_is_brief(table));
    row->columns = rows->columns;
    row->nodes = sum.nodes;
    rows->count++;
}

static void name_total(struct table_row *row, const struct merge_total *total,
                       const struct table *table)
{
    size_t nodes = total->sum.nodes;

    if (total->missing) {
        snprintf(row->label, sizeof(row->label), "partial total");
    } else if (nodes < table->expected) {
        snprintf(row->label, sizeof(row->label), "total of %zu node%s", nodes,
                 nodes == 1 ? "" : "s");
    } else {
        snprintf(row->label, sizeof(row->label), "total");
    }
}

static void table_domains_add_total(struct table_rows *rows, const struct table *table)
{
    struct table_row *row = &rows->rows[rows->count];
    struct merge_total total;

    if (rows->count == 0) {
        return;
    }
    merge_total(table->merge, &total);
    name_total(row, &total, table);
    row->is_total = true;
    set_values(row, &total.sum, table_domains_is_brief(table));
    row->columns = row->bin_ns > 0 ? TABLE_MAX + 1 : TABLE_MEAN + 1;
    rows->count++;
}

static void collect_rows(struct table_rows *rows, const struct table *table)
{
    /* a percentile of several nodes' sum is not known */
    rows->columns = table->head->verbose && table->recorded == 1 ? TABLE_COLUMNS : TABLE_P95;
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        if (apapi_domain_adds_up(domain)) {
            table_domains_add_domain(rows, table, domain);
        }
    }
    table_domains_add_total(rows, table);
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        if (!apapi_domain_adds_up(domain)) {
            table_domains_add_domain(rows, table, domain);
        }
    }
}

/* Domains that no node knows, although there are meters for them. */
static void put_unknown(const struct table *table)
{
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        struct merge_domain sum;

        merge_domain(table->merge, domain, &sum);
        if (!apapi_domain_adds_up(domain) || sum.nodes > 0 || sum.unknown == 0) {
            continue;
        }
        fprintf(table->out, "  total without %s, whose energy is not known",
                apapi_domain_name(domain));
        if (table->expected > 1) {
            fprintf(table->out, " on %zu of %zu nodes", sum.unknown, table->expected);
        }
        fputc('\n', table->out);
    }
}

static void table_domains_put_partial(const struct table_rows *rows, const struct table *table)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->rows[i].is_total && rows->rows[i].nodes < table->recorded) {
            fprintf(table->out, "  %s measured on %zu of %zu nodes\n", rows->rows[i].label,
                    rows->rows[i].nodes, table->expected);
        }
    }
}

static uint64_t table_domains_widest_bin_ns(const struct table_rows *rows)
{
    uint64_t widest_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        widest_ns = rows->rows[i].bin_ns > widest_ns ? rows->rows[i].bin_ns : widest_ns;
    }
    return widest_ns;
}

/* Name the domains whose values are sums of the nodes' own extremes. */
static void put_added_up(const struct table_rows *rows, FILE *out)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct table_row *row = &rows->rows[i];

        if (!row->is_total && row->nodes > 1 && row->bin_ns == 0) {
            fprintf(out, "%s %s", count++ ? "," : "  min, max of", row->label);
        }
    }
    fputs(count ? ": the nodes' own, added up\n" : "", out);
}

static void put_meaning(const struct table_rows *rows, const struct table *table)
{
    uint64_t bin_ns = table_domains_widest_bin_ns(rows);
    char width[UNITS_SIZE];

    if (table_domains_is_brief(table)) {
        units_short(width, sizeof(width), (double)table->merge->window_ns / 1e9);
        fprintf(table->out, "  too short for a power, which is taken over %s at least\n", width);
        return;
    }
    if (table->recorded < 2) {
        return;
    }
    if (bin_ns == 0) {
        fputs("  mean: energy by time; min, max: the nodes' own, added up\n", table->out);
        return;
    }
    units_short(width, sizeof(width), (double)bin_ns / 1e9);
    fprintf(table->out, "  mean: energy by time; min, max: all nodes together, over %s\n", width);
    put_added_up(rows, table->out);
}

static void put_footnotes(const struct table_rows *rows, const struct table *table)
{
    const struct merge_span *covered = &table->merge->covered_pct;
    bool brackets = false;

    table_put_share(table);
    table_rows_put_coverage(
        rows, covered->least == covered->most ? coverage_pct(covered->least / 100) : NAN,
        table->out);
    put_unknown(table);
    table_domains_put_partial(rows, table);
    for (size_t i = 0; i < rows->count; i++) {
        brackets |= rows->rows[i].label[0] == '(';
    }
    if (brackets) {
        fputs("  in brackets: inside package or around other domains, not to be added\n",
              table->out);
    }
    put_meaning(rows, table);
}

/* What is shown of single nodes. */
struct node_texts {
    double uncertainty; /* of the nodes together, relative; NaN: not known */
    char texts[NODES_LISTED][NODE_SIZE];
    size_t count;
};

static void table_domains_add_node(struct node_texts *nodes, const char *word,
                                   const struct merge_node *node)
{
    double uncertainty_j = node->total_j * nodes->uncertainty;
    char clean[APAPI_TEXT_SIZE];
    char name[APAPI_TEXT_SIZE];
    char energy[UNITS_SIZE];

    text_clean(clean, sizeof(clean), node->name);
    text_shorten(name, sizeof(name), clean, NODE_COLUMNS, NODE_COLUMNS / 2);
    units_known_quantity(energy, sizeof(energy), node->total_j, uncertainty_j, "J");
    snprintf(nodes->texts[nodes->count++], NODE_SIZE, "%s%s %s", word, name, energy);
}

/* The distribution of the nodes' energies. */
struct spread {
    const struct merge_node *lowest, *highest;
    size_t count;
    double mean_j, squares; /* sum of squared distances from the mean */
};

static void spread_add(struct spread *spread, const struct merge_node *node)
{
    double distance_j = node->total_j - spread->mean_j;

    if (isnan(node->total_j)) {
        return;
    }
    spread->count++;
    spread->mean_j += distance_j / (double)spread->count;
    spread->squares += distance_j * (node->total_j - spread->mean_j);
    if (!spread->lowest || node->total_j < spread->lowest->total_j) {
        spread->lowest = node;
    }
    if (!spread->highest || node->total_j > spread->highest->total_j) {
        spread->highest = node;
    }
}

/* Write the mean, and the standard deviation in percent of it. */
static void add_mean(struct node_texts *nodes, const struct spread *spread)
{
    double sd_j = sqrt(spread->squares / ((double)spread->count - 1));
    char mean[UNITS_SIZE];

    units_quantity(mean, sizeof(mean), spread->mean_j, "J");
    if (spread->count > 1 && spread->mean_j > 0) {
        snprintf(nodes->texts[nodes->count++], NODE_SIZE, "mean %s, sd %.2g %%", mean,
                 sd_j / spread->mean_j * 100);
    }
}

static void add_spread(struct node_texts *nodes, const struct table *table)
{
    struct spread spread = {0};

    for (size_t i = 0; i < table->recorded; i++) {
        spread_add(&spread, table->nodes[i]);
    }
    if (!spread.lowest || !spread.highest) {
        return;
    }
    table_domains_add_node(nodes, "lowest ", spread.lowest);
    table_domains_add_node(nodes, "highest ", spread.highest);
    add_mean(nodes, &spread);
}

static void collect_nodes(struct node_texts *nodes, const struct table *table)
{
    struct merge_total total;
    bool known = false;

    merge_total(table->merge, &total);
    nodes->uncertainty = total.sum.uncertainty_j / total.sum.energy_j;
    for (size_t i = 0; i < table->recorded; i++) {
        known |= !isnan(table->nodes[i]->total_j);
    }
    if (!known || table->expected < 2) {
        return;
    }
    if (table->recorded > NODES_LISTED) {
        add_spread(nodes, table);
        return;
    }
    for (size_t i = 0; i < table->recorded; i++) {
        table_domains_add_node(nodes, "", table->nodes[i]);
    }
}

/* Rounded down: 100.0 % means that nothing is missing. */
static double floor_pct(double pct)
{
    return floor(pct * 10 + 1e-6) / 10;
}

static void format_span(char *text, size_t size, double least, double most, int decimals)
{
    if (least < most) {
        snprintf(text, size, "%.*f to %.*f", decimals, least, decimals, most);
    } else {
        snprintf(text, size, "%.*f", decimals, most);
    }
}

static void format_coverage(char *text, size_t size, const struct table *table)
{
    const struct merge_span *covered = &table->merge->covered_pct;
    const struct merge_span *samples = &table->merge->samples;
    char shares[64];
    char counts[64];

    text[0] = '\0';
    if (isnan(covered->most)) {
        return;
    }
    format_span(shares, sizeof(shares), floor_pct(covered->least), floor_pct(covered->most), 1);
    format_span(counts, sizeof(counts), samples->least, samples->most, 0);
    snprintf(text, size, "covered %s %%, %s sample%s%s", shares, counts,
             samples->most == 1 ? "" : "s", table->recorded > 1 ? " per node" : "");
}

/* Put nodes at the left and coverage at the right of one line if they fit, otherwise on several. */
static void put_nodes_and_coverage(const struct table *table)
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

void table_put_domains(const struct table *table)
{
    struct table_rows rows = {.least_width = {8, 7, 7, 7, 7}};

    collect_rows(&rows, table);
    if (rows.count > 0) {
        table_rows_put(&rows, table->out);
        put_footnotes(&rows, table);
        table_put_shared(table->merge->id.cores, table->merge->id.node_cores, table->recorded,
                         table->out);
    }
    put_nodes_and_coverage(table);
}
