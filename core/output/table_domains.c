/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "output/table_parts.h"

#define NODES_LISTED 4
#define NODE_COLUMNS 24
#define NODE_SIZE (APAPI_TEXT_SIZE + 64)
#define CELL_SIZE (UNITS_SIZE + 8)

enum column { COLUMN_ENERGY, COLUMN_MEAN, COLUMN_MIN, COLUMN_MAX, COLUMN_P95, COLUMNS };

static const char *const column_names[COLUMNS] = {"energy", "mean", "min", "max", "p95"};
static const char *const column_units[COLUMNS] = {"J", "W", "W", "W", "W"};

#define SHARE_SIZE 16
#define SHOWN_PCT 1.0 /* an uncertainty above this is shown */

struct row {
    char label[48];
    double uncertainty; /* of all its values, relative; NaN: not known */
    double values[COLUMNS];
    size_t columns; /* number shown */
    size_t nodes;
    bool is_total;
    uint64_t bin_ns; /* as in struct merge_domain */
};

struct rows {
    struct row rows[APAPI_DOMAINS + 1];
    size_t count;
    size_t columns; /* of all domains; the total has fewer */
    char cells[APAPI_DOMAINS + 1][COLUMNS][CELL_SIZE];
    char shares[APAPI_DOMAINS + 1][SHARE_SIZE]; /* "±2.1 %"; "": not shown */
    int label_width;
    int share_width; /* 0: no row has one */
    int widths[COLUMNS];
};

static void set_values(struct row *row, const struct merge_domain *sum, bool brief)
{
    row->uncertainty = sum->energy_j > 0 ? sum->uncertainty_j / sum->energy_j : NAN;
    row->values[COLUMN_ENERGY] = sum->energy_j;
    row->values[COLUMN_MEAN] = brief ? NAN : sum->power_w.mean;
    row->values[COLUMN_MIN] = brief ? NAN : sum->power_w.min;
    row->values[COLUMN_MAX] = brief ? NAN : sum->power_w.max;
    row->values[COLUMN_P95] = brief ? NAN : sum->power_w.p95;
    row->bin_ns = brief ? 0 : sum->bin_ns;
}

/* Whether the step is too short for a power. */
static bool is_brief(const struct table *table)
{
    return table->merge->elapsed_s * 1e9 < (double)table->merge->window_ns;
}

static void add_domain(struct rows *rows, const struct table *table, enum apapi_domain domain)
{
    bool adds_up = apapi_domain_adds_up(domain);
    struct row *row = &rows->rows[rows->count];
    struct merge_domain sum;

    merge_domain(table->merge, domain, &sum);
    if (sum.nodes == 0) {
        return;
    }
    snprintf(row->label, sizeof(row->label), "%s%s%s", adds_up ? "" : "(",
             apapi_domain_name(domain), adds_up ? "" : ")");
    set_values(row, &sum, is_brief(table));
    row->columns = rows->columns;
    row->nodes = sum.nodes;
    rows->count++;
}

static void name_total(struct row *row, const struct merge_total *total, const struct table *table)
{
    size_t nodes = total->sum.nodes;

    if (total->partial) {
        snprintf(row->label, sizeof(row->label), "partial total");
    } else if (nodes < table->expected) {
        snprintf(row->label, sizeof(row->label), "total of %zu node%s", nodes,
                 nodes == 1 ? "" : "s");
    } else {
        snprintf(row->label, sizeof(row->label), "total");
    }
}

static void add_total(struct rows *rows, const struct table *table)
{
    struct row *row = &rows->rows[rows->count];
    struct merge_total total;

    if (rows->count == 0) {
        return;
    }
    merge_total(table->merge, &total);
    name_total(row, &total, table);
    row->is_total = true;
    set_values(row, &total.sum, is_brief(table));
    row->columns = row->bin_ns > 0 ? COLUMN_MAX + 1 : COLUMN_MEAN + 1;
    rows->count++;
}

static void collect_rows(struct rows *rows, const struct table *table)
{
    /* a percentile of the sum of several nodes is not known */
    rows->columns = table->head->verbose && table->recorded == 1 ? COLUMNS : COLUMN_P95;
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        if (apapi_domain_adds_up(domain)) {
            add_domain(rows, table, domain);
        }
    }
    add_total(rows, table);
    for (int domain = APAPI_DOMAIN_NONE + 1; domain < APAPI_DOMAINS; domain++) {
        if (!apapi_domain_adds_up(domain)) {
            add_domain(rows, table, domain);
        }
    }
}

static double greatest(const struct rows *rows, size_t column)
{
    double most = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (column < rows->rows[i].columns) {
            most = fmax(most, fabs(rows->rows[i].values[column]));
        }
    }
    return most;
}

/* A column has one scale, to compare its values. One that would lose its digits has its own. */
static void format_column(struct rows *rows, size_t column)
{
    double most = greatest(rows, column);
    struct units_scale common = units_scale(most);

    for (size_t i = 0; i < rows->count; i++) {
        double value = rows->rows[i].values[column];
        char *cell = rows->cells[i][column];
        struct units_scale scale = common;
        char number[UNITS_SIZE];

        if (column >= rows->rows[i].columns) {
            continue;
        }
        if (isnan(value)) {
            snprintf(cell, CELL_SIZE, "-");
            continue;
        }
        if (value != 0 && fabs(value) < most / 100) {
            scale = units_scale(value);
            scale.decimals = common.decimals;
        }
        units_keep_known(&scale, value, fabs(value) * rows->rows[i].uncertainty);
        units_number(number, sizeof(number), value, &scale);
        snprintf(cell, CELL_SIZE, "%s %*s%s", number, (int)strlen(common.prefix), scale.prefix,
                 column_units[column]);
    }
}

static void format_shares(struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        double pct = rows->rows[i].uncertainty * 100;

        if (pct > SHOWN_PCT) {
            snprintf(rows->shares[i], SHARE_SIZE, "±%.*f %%", pct < 9.95 ? 1 : 0, fmin(pct, 1e6));
        }
        if ((int)text_columns(rows->shares[i]) > rows->share_width) {
            rows->share_width = (int)text_columns(rows->shares[i]);
        }
    }
}

static void measure_widths(struct rows *rows)
{
    rows->label_width = (int)strlen("package");
    for (size_t i = 0; i < rows->count; i++) {
        if ((int)strlen(rows->rows[i].label) > rows->label_width) {
            rows->label_width = (int)strlen(rows->rows[i].label);
        }
    }
    for (size_t column = 0; column < rows->columns; column++) {
        rows->widths[column] = column == COLUMN_ENERGY ? 8 : 7;
        for (size_t i = 0; i < rows->count; i++) {
            if ((int)strlen(rows->cells[i][column]) > rows->widths[column]) {
                rows->widths[column] = (int)strlen(rows->cells[i][column]);
            }
        }
    }
}

static void put_share(const struct rows *rows, const char *share, FILE *out)
{
    int gap = rows->share_width - (int)text_columns(share);

    if (rows->share_width > 0) {
        fprintf(out, " %s%*s", share, gap, "");
    }
}

static void put_cell(const struct rows *rows, size_t column, const char *cell, const char *share,
                     FILE *out)
{
    fprintf(out, "   %*s", rows->widths[column], cell);
    if (column == COLUMN_ENERGY) {
        put_share(rows, share, out);
    }
}

static void put_rows(const struct rows *rows, FILE *out)
{
    fprintf(out, "  %-*s", rows->label_width, "domain");
    for (size_t column = 0; column < rows->columns; column++) {
        put_cell(rows, column, column_names[column], "", out);
    }
    fputc('\n', out);
    for (size_t i = 0; i < rows->count; i++) {
        fprintf(out, "  %-*s", rows->label_width, rows->rows[i].label);
        for (size_t column = 0; column < rows->rows[i].columns; column++) {
            put_cell(rows, column, rows->cells[i][column], rows->shares[i], out);
        }
        fputc('\n', out);
    }
}

static void put_partial(const struct rows *rows, const struct table *table)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (!rows->rows[i].is_total && rows->rows[i].nodes < table->recorded) {
            fprintf(table->out, "  %s measured on %zu of %zu nodes\n", rows->rows[i].label,
                    rows->rows[i].nodes, table->expected);
        }
    }
}

static uint64_t widest_bin_ns(const struct rows *rows)
{
    uint64_t widest_ns = 0;

    for (size_t i = 0; i < rows->count; i++) {
        widest_ns = rows->rows[i].bin_ns > widest_ns ? rows->rows[i].bin_ns : widest_ns;
    }
    return widest_ns;
}

/* Name the domains whose values are sums of the nodes' own extremes. */
static void put_added_up(const struct rows *rows, FILE *out)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->rows[i];

        if (!row->is_total && row->nodes > 1 && row->bin_ns == 0) {
            fprintf(out, "%s %s", count++ ? "," : "  min, max of", row->label);
        }
    }
    fputs(count ? ": the nodes' own, added up\n" : "", out);
}

static void put_meaning(const struct rows *rows, const struct table *table)
{
    uint64_t bin_ns = widest_bin_ns(rows);
    char width[UNITS_SIZE];

    if (is_brief(table)) {
        units_short(width, sizeof(width), (double)table->merge->window_ns / 1e9);
        fprintf(table->out, "  too short for a power, which is taken over %s at least\n", width);
        return;
    }
    if (table->recorded < 2) {
        return;
    }
    if (bin_ns == 0) {
        fputs("  mean, min, max: the nodes' own, added up\n", table->out);
        return;
    }
    units_short(width, sizeof(width), (double)bin_ns / 1e9);
    fprintf(table->out, "  mean: the nodes' own, added up; min, max: all nodes together, over %s\n",
            width);
    put_added_up(rows, table->out);
}

static void put_footnotes(const struct rows *rows, const struct table *table)
{
    bool brackets = false;

    put_partial(rows, table);
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

static void add_node(struct node_texts *nodes, const char *word, const struct merge_node *node)
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
    add_node(nodes, "lowest ", spread.lowest);
    add_node(nodes, "highest ", spread.highest);
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
        add_node(nodes, "", table->nodes[i]);
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
    struct rows rows = {0};

    collect_rows(&rows, table);
    if (rows.count > 0) {
        for (size_t column = 0; column < rows.columns; column++) {
            format_column(&rows, column);
        }
        format_shares(&rows);
        measure_widths(&rows);
        put_rows(&rows, table->out);
        put_footnotes(&rows, table);
    }
    put_nodes_and_coverage(table);
}
