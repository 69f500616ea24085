/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/plot.h"

#define NS_PER_S 1e9

/* Records of one or more nodes, sorted by node. */
struct slice {
    const struct apapi_record *records;
    size_t count;
};

/* What is known of a stretch of time. */
struct known {
    double energy_j;
    uint64_t time_ns;
    bool ran; /* something was measured in it, for better or worse */
};

static bool has_timeline(const struct apapi_record *record, int domain)
{
    const struct apapi_domain_result *result = &record->measurement.domains[domain];

    return apapi_domain_adds_up(domain) && result->measured && result->timeline.count > 0;
}

/* report_input_read() lets no record pass that ends beyond 64 bits. */
static int64_t end_of(const struct apapi_record *record)
{
    return record->measurement.start_unix_ns + (int64_t)record->measurement.elapsed_ns;
}

static int64_t next_edge(const struct slice *node, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < node->count; i++) {
        int64_t edges_ns[] = {node->records[i].measurement.start_unix_ns,
                              end_of(&node->records[i])};

        for (int e = 0; e < 2; e++) {
            to_ns = edges_ns[e] > from_ns && edges_ns[e] < to_ns ? edges_ns[e] : to_ns;
        }
    }
    return to_ns;
}

static double between_j(const struct apapi_record *record, int domain, const int64_t span_ns[2],
                        uint64_t *known_ns)
{
    int64_t start_ns = record->measurement.start_unix_ns;

    return show_between_j(&record->measurement.domains[domain], (uint64_t)(span_ns[0] - start_ns),
                          (uint64_t)(span_ns[1] - start_ns), known_ns);
}

/* Add a piece in which no record begins or ends, by the record that knows most of it. */
static void add_piece(const struct slice *node, int domain, const int64_t span_ns[2],
                      struct known *sum)
{
    double best_j = 0;
    uint64_t best_ns = 0;

    for (size_t i = 0; i < node->count; i++) {
        const struct apapi_record *record = &node->records[i];
        uint64_t known_ns;
        double energy_j;

        if (!has_timeline(record, domain) || record->measurement.start_unix_ns > span_ns[0] ||
            end_of(record) < span_ns[1]) {
            continue;
        }
        sum->ran = true;
        energy_j = between_j(record, domain, span_ns, &known_ns);
        if (known_ns > best_ns) {
            best_j = energy_j;
            best_ns = known_ns;
        }
    }
    sum->energy_j += best_j;
    sum->time_ns += best_ns;
}

static struct known known_of(const struct slice *node, int domain, int64_t from_ns, int64_t to_ns)
{
    struct known sum = {0};

    while (from_ns < to_ns) {
        int64_t edge_ns = next_edge(node, from_ns, to_ns);

        add_piece(node, domain, (int64_t[]){from_ns, edge_ns}, &sum);
        from_ns = edge_ns;
    }
    return sum;
}

/* The records of the first node of a slice. */
static struct slice first_node(const struct slice *slice)
{
    struct slice node = {slice->records, 0};

    while (node.count < slice->count &&
           strcmp(node.records[node.count].id.node, node.records[0].id.node) == 0) {
        node.count++;
    }
    return node;
}

/* Some nodes in some domains. */
struct extent {
    struct slice slice;
    int first, last; /* domains */
};

/* NaN: nothing ran, or of something that ran nothing is known. */
static double power_of(const struct extent *extent, int64_t from_ns, int64_t to_ns)
{
    double power_w = NAN;
    struct slice rest = extent->slice;

    while (rest.count > 0) {
        struct slice node = first_node(&rest);

        for (int d = extent->first; d <= extent->last; d++) {
            struct known known = known_of(&node, d, from_ns, to_ns);

            if (known.ran && known.time_ns == 0) {
                return NAN;
            }
            if (known.ran) {
                power_w = (isnan(power_w) ? 0 : power_w) +
                          known.energy_j * NS_PER_S / (double)known.time_ns;
            }
        }
        rest = (struct slice){rest.records + node.count, rest.count - node.count};
    }
    return power_w;
}

static void fill_series(const struct plot_job *job, const struct extent *extent, double *power_w)
{
    int64_t start_ns = job->show.total.start_unix_ns;
    double length_ns = (double)(job->show.total.end_unix_ns - start_ns);

    for (int i = 0; i < PLOT_COLUMNS; i++) {
        power_w[i] = power_of(extent, start_ns + (int64_t)(length_ns * i / PLOT_COLUMNS),
                              start_ns + (int64_t)(length_ns * (i + 1) / PLOT_COLUMNS));
    }
}

static bool is_known(const struct plot_series *series)
{
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        if (!isnan(series->power_w[i])) {
            return true;
        }
    }
    return false;
}

static bool measures(const struct show *show, int domain)
{
    for (size_t i = 0; i < show->count; i++) {
        if (has_timeline(&show->records[i], domain)) {
            return true;
        }
    }
    return false;
}

static void work_out_domains(struct plot_job *job)
{
    struct extent extent = {.slice = {job->show.records, job->show.count}};

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        struct plot_series *series = &job->series[job->series_count];

        if (!measures(&job->show, d)) {
            continue;
        }
        extent.first = extent.last = d;
        snprintf(series->name, sizeof series->name, "%s", apapi_domain_name(d));
        series->colour = (unsigned)d;
        fill_series(job, &extent, series->power_w);
        job->series_count += is_known(series);
    }
    if (job->series_count > 1) {
        struct plot_series *total = &job->series[job->series_count++];

        extent.first = APAPI_DOMAIN_NONE + 1;
        extent.last = APAPI_DOMAINS - 1;
        *total = (struct plot_series){.name = "total"};
        fill_series(job, &extent, total->power_w);
    }
}

static struct extent extent_of(const struct show *show, const struct show_node *node)
{
    struct extent extent = {.first = APAPI_DOMAIN_NONE + 1, .last = APAPI_DOMAINS - 1};
    size_t first = 0;

    while (strcmp(show->records[first].id.node, node->name) != 0) {
        first++;
    }
    extent.slice = first_node(&(struct slice){show->records + first, show->count - first});
    return extent;
}

/* The mean of all that do not get a line of their own. */
static void work_out_others(struct plot_job *job, struct show_node *const *nodes, size_t count)
{
    struct plot_series *series = &job->series[job->series_count];
    double power_w[PLOT_COLUMNS] = {0};
    unsigned known[PLOT_COLUMNS] = {0};

    *series = (struct plot_series){0};
    snprintf(series->name, sizeof series->name, "mean of %zu others", count);
    for (size_t n = 0; n < count; n++) {
        struct extent extent = extent_of(&job->show, nodes[n]);

        fill_series(job, &extent, power_w);
        for (int i = 0; i < PLOT_COLUMNS; i++) {
            known[i] += !isnan(power_w[i]);
            series->power_w[i] += isnan(power_w[i]) ? 0 : power_w[i];
        }
    }
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        series->power_w[i] = known[i] ? series->power_w[i] / known[i] : NAN;
    }
    job->series_count += is_known(series);
}

static void work_out_nodes(struct plot_job *job, struct show_node *const *nodes)
{
    size_t count = job->show.node_count;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;

    for (size_t n = 0; n < own; n++) {
        struct extent extent = extent_of(&job->show, nodes[n]);
        struct plot_series *series = &job->series[job->series_count];

        snprintf(series->name, sizeof series->name, "%s", nodes[n]->name);
        series->colour = (unsigned)n + 1;
        fill_series(job, &extent, series->power_w);
        job->series_count += is_known(series);
    }
    if (count > own) {
        work_out_others(job, nodes + own, count - own);
    }
}

int plot_work_out(struct plot_job *job, bool by_node)
{
    struct show *show = &job->show;
    struct show_node **nodes;

    if (show_work_out(show)) {
        return -1;
    }
    nodes = calloc(show->node_count + 1, sizeof(struct show_node *));
    if (!nodes) {
        return -1;
    }
    for (size_t i = 0; i < show->node_count; i++) {
        nodes[i] = &show->nodes[i];
    }
    qsort(nodes, show->node_count, sizeof(struct show_node *), show_compare_nodes);
    if (by_node) {
        work_out_nodes(job, nodes);
    } else {
        work_out_domains(job);
    }
    free(nodes);
    return 0;
}
