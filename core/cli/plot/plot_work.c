/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "cli/job/job_power.h"
#include "cli/plot/plot.h"

static bool plot_work_is_known(const struct plot_series *series)
{
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        if (!isnan(series->power_w[i])) {
            return true;
        }
    }
    return false;
}

/* Add a line if anything is known of it. */
static int add_series(struct plot_job *job, const char *node, int domain)
{
    struct plot_series *series = &job->series[job->series_count];

    if (show_power(&job->show, node, domain, series->power_w, PLOT_COLUMNS)) {
        return -1;
    }
    job->series_count += plot_work_is_known(series);
    return 0;
}

static int work_out_domains(struct plot_job *job)
{
    int result = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && result == 0; d++) {
        struct plot_series *series = &job->series[job->series_count];

        *series = (struct plot_series){.colour = (unsigned)d};
        snprintf(series->name, sizeof series->name, "%s", apapi_domain_name(d));
        result = add_series(job, NULL, d);
    }
    if (job->series_count > 1 && result == 0) {
        job->series[job->series_count] = (struct plot_series){.name = "total"};
        result = add_series(job, NULL, APAPI_DOMAIN_NONE);
    }
    return result;
}

/* The mean over the nodes without a line of their own, each time over those that are known. */
static int work_out_others(struct plot_job *job, struct show_node *const *nodes, size_t count)
{
    struct plot_series *series = &job->series[job->series_count];
    double power_w[PLOT_COLUMNS];
    unsigned known[PLOT_COLUMNS] = {0};

    *series = (struct plot_series){0};
    snprintf(series->name, sizeof series->name, "mean of %zu others", count);
    for (size_t n = 0; n < count; n++) {
        if (show_power(&job->show, nodes[n]->name, APAPI_DOMAIN_NONE, power_w, PLOT_COLUMNS)) {
            return -1;
        }
        for (int i = 0; i < PLOT_COLUMNS; i++) {
            known[i] += !isnan(power_w[i]);
            series->power_w[i] += isnan(power_w[i]) ? 0 : power_w[i];
        }
    }
    for (int i = 0; i < PLOT_COLUMNS; i++) {
        series->power_w[i] = known[i] ? series->power_w[i] / known[i] : NAN;
    }
    job->series_count += plot_work_is_known(series);
    return 0;
}

static int plot_work_out_nodes(struct plot_job *job, struct show_node *const *nodes)
{
    size_t count = job->show.node_count;
    size_t own = count > PLOT_SERIES_MAX - 1 ? PLOT_SERIES_MAX - 1 : count;

    for (size_t n = 0; n < own; n++) {
        struct plot_series *series = &job->series[job->series_count];

        *series = (struct plot_series){.colour = (unsigned)n + 1};
        snprintf(series->name, sizeof series->name, "%s", nodes[n]->name);
        if (add_series(job, nodes[n]->name, APAPI_DOMAIN_NONE)) {
            return -1;
        }
    }
    return count > own ? work_out_others(job, nodes + own, count - own) : 0;
}

int plot_work_out(struct plot_job *job, bool by_node)
{
    struct show *show = &job->show;
    struct show_node **nodes;
    int result;

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
    result = by_node ? plot_work_out_nodes(job, nodes) : work_out_domains(job);
    free(nodes);
    return result;
}
