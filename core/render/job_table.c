/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "apapi/job.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/names.h"
#include "base/text.h"
#include "base/units.h"
#include "record/record.h"
#include "render/domain_rows.h"
#include "sum/sum.h"

#define INCOMPLETE_LISTED 5
#define RUNNING_LISTED 5
#define NAMES_COLUMNS 120
#define CELL_COLUMNS 10
#define PARTIAL_SHARE 0.99 /* a domain known for less of the measured time is named */

struct job_table {
    FILE *out;
    struct apapi_job *job;
    const struct apapi_job_table_head *head;
    struct apapi_job_total total;
    size_t nodes;            /* of the job */
    struct namelist missing; /* nodes without any record; empty: none, or not known */
    bool failed;             /* out of memory */
};

static int note_missing(void *context, const char *name)
{
    struct job_table *table = context;

    return apapi_job_has_node(table->job, name) ? 0 : namelist_add(&table->missing, name);
}

/* Nodes that are not listed may have records, too: those of the job's other components. */
static void count_nodes(struct job_table *table)
{
    const char *list = table->head->nodelist ? table->head->nodelist : "";
    size_t known =
        table->head->nodes > table->total.job_nodes ? table->head->nodes : table->total.job_nodes;
    ssize_t listed = hostlist_each(list, note_missing, table);

    if (listed > 0 && (size_t)listed >= known) {
        namelist_unique(&table->missing);
        table->nodes = table->total.nodes + table->missing.count;
    } else {
        namelist_free(&table->missing);
        table->nodes = known;
    }
}

static struct merge_domain job_table_domain(double energy_j, double uncertainty_j, double mean_w)
{
    return (struct merge_domain){.energy_j = energy_j,
                                 .uncertainty_j = uncertainty_j,
                                 .power_w = {.min = NAN, .mean = mean_w, .max = NAN, .p95 = NAN}};
}

static void job_table_collect(const struct job_table *table, struct table_rows *rows)
{
    const struct apapi_job_total *job = &table->total;
    struct merge_domain domains[APAPI_DOMAINS];
    struct merge_domain total = job_table_domain(job->energy_j, job->uncertainty_j, job->mean_w);
    bool partial = job->missing_domains != 0;

    for (int d = 0; d < APAPI_DOMAINS; d++) {
        const struct apapi_job_domain *one = &job->domains[d];

        domains[d] = job_table_domain(one->energy_j, one->uncertainty_j, one->mean_w);
        domains[d].nodes = one->nodes;
        partial |= apapi_domain_adds_up(d) && one->nodes > 0 && one->nodes < job->nodes;
        domains[d].covered = (double)one->covered_ns / (double)one->recorded_ns;
    }
    table_rows_collect(rows, domains, &total, partial ? "partial total" : "total",
                       job->busy_ns < job->window_ns);
}

static void job_table_put_partial(const struct job_table *table, enum apapi_domain d)
{
    const struct apapi_job_domain *domain = &table->total.domains[d];
    double share = (double)domain->covered_ns / (double)table->total.covered_ns;

    if (domain->nodes == 0 && table->total.missing_domains & domain_bit(d)) {
        fprintf(table->out, "  total without %s, whose energy is not known\n",
                apapi_domain_name(d));
    } else if (domain->nodes > 0 && domain->nodes < table->total.nodes) {
        fprintf(table->out, "  %s known on %zu of %zu nodes\n", apapi_domain_name(d), domain->nodes,
                table->total.nodes);
    } else if (domain->nodes > 0 && apapi_domain_adds_up(d) && share < PARTIAL_SHARE) {
        fprintf(table->out, "  %s known for %.1f %% of the measured time\n", apapi_domain_name(d),
                floor(share * 1000) / 10);
    }
}

/* @return measured part of the job, rounded down: 100 % means that nothing is missing. */
static double job_table_measured_pct(const struct job_table *table)
{
    return coverage_pct(apapi_job_measured(
        &table->total, table->nodes > table->total.job_nodes ? table->nodes : 0));
}

static void job_table_put_domains(struct job_table *table)
{
    struct table_rows rows = {.columns = ROW_MEAN + 1, .least_width = {CELL_COLUMNS, CELL_COLUMNS}};

    job_table_collect(table, &rows);
    table->failed |= table_rows_put(&rows, table->out) != 0;
    if (rows.count == 0) {
        fputs("  no domain was measured\n", table->out);
    } else if (table->total.busy_ns < table->total.window_ns) {
        table_put_brief(table->total.window_ns, table->out);
    }
    table_rows_put_coverage(&rows, job_table_measured_pct(table), table->out);
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        job_table_put_partial(table, d);
    }
}

static void put_measured(const struct job_table *table)
{
    size_t nodes = table->nodes;
    double measured_pct = job_table_measured_pct(table);
    double elapsed_s = (double)table->total.elapsed_ns / NS_PER_S, node_s = table->total.node_s;
    /* some runs may have had fewer nodes than others */
    bool all = nodes > table->total.job_nodes || node_s > (double)nodes * elapsed_s * 0.999999;

    if (!isnan(measured_pct)) {
        fprintf(table->out, "  measured %.1f %% of %s%s; each moment of a node counts once\n",
                measured_pct,
                all ? units_part(true, "%zu node%s x ", nodes, text_plural(nodes)).text
                    : "the node time of its runs, ",
                units_duration(all ? elapsed_s : node_s).text);
    }
}

static void put_clocks(const struct job_table *table)
{
    const struct apapi_job_total *total = &table->total;

    if (total->clock_jump_ns >= TIMING_JUMP_NS) {
        fprintf(table->out, "  a node's clock jumped by %s; its time since boot counts\n",
                units_duration((double)total->clock_jump_ns / NS_PER_S).text);
    }
    if (total->clock_apart_ns > 0) {
        fprintf(table->out, "  clocks of nodes differ by %s; steps begin on all at once\n",
                units_duration((double)total->clock_apart_ns / NS_PER_S).text);
    }
}

static void put_incomplete(const struct job_table *table)
{
    char text[INCOMPLETE_LISTED * (APAPI_TEXT_SIZE + 64)] = "";
    const char *step, *node;
    size_t listed = 0, length = 0;

    for (; listed < INCOMPLETE_LISTED && (step = apapi_job_incomplete(table->job, listed, &node));
         listed++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%sstep %s on %s",
                                   listed ? ", " : "incomplete: ", step, node);
    }
    text_wrap(table->out, "%s%s", text,
              units_part(table->total.incomplete > listed, " and %zu more",
                         table->total.incomplete - listed)
                  .text);
}

static void put_running(const struct job_table *table)
{
    const struct apapi_job_table_head *head = table->head;
    char text[(RUNNING_LISTED + 1) * 66];
    size_t listed = 0,
           length = (size_t)snprintf(text, sizeof text, "not in this table, still running: step%s",
                                     text_plural(head->running_count));

    for (; listed < RUNNING_LISTED && listed < head->running_count; listed++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %.63s",
                                   listed ? "," : "", head->running[listed]);
    }
    text_wrap(
        table->out, "%s%s", text,
        units_part(head->running_count > listed, " and %zu more", head->running_count - listed)
            .text);
}

static void job_table_put_all(struct job_table *table)
{
    char job[64];

    text_clean(job, sizeof(job), table->head->job ? table->head->job : "");
    fprintf(table->out, "apapi: job%s%s  %zu node%s  %zu step%s  %s", *job ? " " : "", job,
            table->nodes, text_plural(table->nodes), table->total.steps,
            text_plural(table->total.steps),
            units_duration((double)table->total.elapsed_ns / NS_PER_S).text);
    fprintf(table->out, table->total.runs > 1 ? "  in %zu runs\n" : "\n", table->total.runs);
    job_table_put_domains(table);
    table_put_shared(table->total.cores, table->total.node_cores, table->total.nodes, table->out);
    put_measured(table);
    put_clocks(table);
    if (table->head->left_out > 0) {
        fprintf(table->out, "  %zu record%s had no room\n", table->head->left_out,
                text_plural(table->head->left_out));
    }
    if (table->head->running_count > 0) {
        put_running(table);
    }
    if (table->missing.count > 0) {
        char *names = hostlist_text(&table->missing, NAMES_COLUMNS);

        table->failed |= !names;
        text_wrap(table->out, "no record of %s", names ? names : "");
        free(names);
    } else if (table->nodes > table->total.nodes) {
        fprintf(table->out, "  no record of %zu of the nodes\n", table->nodes - table->total.nodes);
    }
    if (table->total.incomplete > 0) {
        put_incomplete(table);
    }
}

int apapi_job_table_format(struct apapi_job *job, const struct apapi_job_table_head *head,
                           char **text, struct apapi_error *err)
{
    struct job_table table = {.job = job, .head = head};
    char *result = NULL;
    size_t size;

    if (apapi_job_total(job, &table.total) == 0) {
        count_nodes(&table);
        table.out = open_memstream(&result, &size);
        if (table.out) {
            job_table_put_all(&table);
        }
        result = text_of_stream(table.out, &result, table.failed ? -1 : 0);
    }
    namelist_free(&table.missing);
    if (!result) {
        return apapi_fail(err, ENOMEM, "table: out of memory");
    }
    *text = result;
    return 0;
}
