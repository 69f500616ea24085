/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a ledger: sums of buckets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/totals/job_state.h"
#include "cli/totals/ledger.h"
#include "cli/totals/pieces.h"
#include "cli/totals/row_fields.h"

#define PCT 100

/* Sums over a row that it does not show. */
struct sum {
    struct report_row *row;
    double busy_s;     /* energy divided by power */
    double window_s;   /* the longest of its jobs; 0: not known */
    double node_s;     /* of all nodes of the jobs */
    double measured_s; /* of it, with known energy */
    double covered_s, known_s;
    double node_count;
    uint32_t missing_domains;
};

static double number(uint32_t value)
{
    return value == APAPI_UNKNOWN ? (double)NAN : (double)value;
}

static const char *rows_same(const char *known, const char *text)
{
    return !known || strcmp(known, text) == 0 ? text : "";
}

void report_row_identify(const struct report_ledger *ledger, const struct report_bucket *bucket,
                         struct report_row *row)
{
    const struct pool *texts = &ledger->texts;

    row->cluster = rows_same(row->cluster, pool_text(texts, bucket->cluster));
    row->user = rows_same(row->user, pool_text(texts, bucket->user));
    row->account = rows_same(row->account, pool_text(texts, bucket->account));
    row->partition = rows_same(row->partition, pool_text(texts, bucket->partition));
    row->qos = rows_same(row->qos, pool_text(texts, bucket->qos));
    row->job_name = rows_same(row->job_name, pool_text(texts, bucket->job_name));
    row->name = rows_same(row->name, pool_text(texts, bucket->name));
    row->day = rows_same(row->day, pool_text(texts, bucket->day));
}

/* Fill in what only a row of one job has. */
static void rows_put_job(const struct report_ledger *ledger, const struct report_bucket *bucket,
                         const struct report_total *total, struct report_row *row)
{
    const struct report_piece *piece = &ledger->pieces[bucket->first];
    const char *step = pool_text(&ledger->texts, piece->step);

    memcpy(row->job_id, total->job_id, sizeof row->job_id);
    row->restarts = number(bucket->restarts);
    row->state = report_state_name(report_state_of(bucket->code, bucket->signal));
    if (bucket->code != APAPI_UNKNOWN) {
        snprintf(row->exit, sizeof row->exit, "%u:%u", bucket->code,
                 bucket->signal == APAPI_UNKNOWN ? 0 : bucket->signal);
    }
    if (ledger->by == REPORT_BY_STEP) {
        snprintf(row->step_id, sizeof row->step_id, "%s%s%s", row->job_id, *step ? "." : "", step);
    }
}

static void add_costs(const struct rates *rates, const struct apapi_job_total *job,
                      struct report_row *row)
{
    row->co2_g = report_plus(row->co2_g, rates_apply(rates, rates->co2_g_per_kwh, job->energy_j,
                                                     job->start_unix_ns, job->end_unix_ns));
    row->cost = report_plus(row->cost, rates_apply(rates, rates->price_per_kwh, job->energy_j,
                                                   job->start_unix_ns, job->end_unix_ns));
}

static void rows_add_times(const struct report_total *total, struct sum *sum)
{
    const struct apapi_job_total *job = &total->job;

    sum->row->elapsed_s += (double)job->elapsed_ns / NS_PER_S;
    sum->node_s += job->node_s;
    sum->measured_s += (double)job->covered_ns / NS_PER_S;
    sum->covered_s += total->covered_s;
    sum->known_s += total->known_s;
    sum->node_count += (double)job->job_nodes;
    sum->window_s = fmax(sum->window_s, total->window_s);
    if (job->mean_w > 0) {
        sum->busy_s += job->energy_j / job->mean_w;
    }
    if (sum->row->jobs == 0 || job->start_unix_ns < sum->row->start_ns) {
        sum->row->start_ns = job->start_unix_ns;
    }
    if (sum->row->jobs == 0 || job->end_unix_ns > sum->row->end_ns) {
        sum->row->end_ns = job->end_unix_ns;
    }
}

/* Uncertainties add up, as all may err to the same side. */
static void rows_add_energy(const struct apapi_job_total *job, struct report_row *row)
{
    if (!isnan(job->energy_j)) {
        row->uncertainty_j =
            isnan(row->energy_j) ? job->uncertainty_j : row->uncertainty_j + job->uncertainty_j;
    }
    row->energy_j = report_plus(row->energy_j, job->energy_j);
}

static void rows_add_total(const struct report_ledger *ledger, const struct report_total *total,
                           const struct report_view *view, struct sum *sum)
{
    struct report_row *row = sum->row;

    rows_add_times(total, sum);
    row->jobs++;
    row->steps += (double)total->job.steps;
    row->records += (double)total->job.records;
    row->incomplete += (double)total->job.incomplete;
    row->missing += (double)total->missing;
    row->delayed += (double)total->delayed;
    row->shareless += (double)total->shareless;
    rows_add_energy(&total->job, row);
    row->max_power_w = fmax(row->max_power_w, total->max_w);
    sum->missing_domains |= total->job.missing_domains;
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domain_j[d] = report_plus(row->domain_j[d], total->job.domains[d].energy_j);
    }
    if (total->reason != POOL_NONE && !row->reason) {
        row->reason = pool_text(&ledger->texts, total->reason);
    }
    add_costs(view->rates, &total->job, row);
}

static void rows_conclude(const struct report_ledger *ledger, struct sum *sum)
{
    struct report_row *row = sum->row;

    row->complete = row->incomplete == 0 && row->missing == 0;
    domain_list_text(sum->missing_domains, ",", row->missing_domains);
    row->brief = sum->busy_s < sum->window_s;
    row->power_w = sum->busy_s > 0 ? row->energy_j / sum->busy_s : NAN;
    row->measured_pct = sum->node_s > 0 ? PCT * fmin(sum->measured_s / sum->node_s, 1) : NAN;
    row->covered_pct = sum->known_s > 0 ? PCT * sum->covered_s / sum->known_s : NAN;
    if (ledger->rows) {
        row->nodes = NAN; /* jobs share them */
        report_row_free(row);
    } else {
        row->nodes = sum->node_count;
        row->energy_per_node_j = row->energy_j / sum->node_count;
    }
    if (ledger->by == REPORT_BY_NODE) {
        row->jobs = row->steps = NAN; /* numbers of steps do not identify jobs */
    }
}

void report_row_free(struct report_row *row)
{
    free(row->nodelist);
    free(row->missing_nodes);
    row->nodelist = row->missing_nodes = NULL;
}

int report_ledger_sum(const struct report_ledger *ledger, uint32_t row_number,
                      const struct report_view *view, struct report_row *row)
{
    uint32_t next = ledger->rows ? ledger->rows[row_number] : row_number;
    struct sum sum = {.row = row};

    if (ledger->by == REPORT_BY_REGION) {
        *row = ledger->regions.rows[row_number];
        return 0;
    }
    *row = report_row_empty();
    row->jobs = row->steps = row->records = row->incomplete = row->missing = row->delayed = 0;
    row->elapsed_s = 0;
    row->shareless = ledger->shares ? 0 : NAN;
    while (next != POOL_NONE) {
        const struct report_bucket *bucket = &ledger->buckets[next];
        struct report_total total;
        int failed = report_bucket_sum(ledger, bucket, view, &total);

        report_row_free(row);
        row->nodelist = total.nodelist;
        row->missing_nodes = total.missing_nodes;
        if (failed) {
            report_row_free(row);
            return -1;
        }
        report_row_identify(ledger, bucket, row);
        if (ledger->by == REPORT_BY_JOB || ledger->by == REPORT_BY_STEP) {
            rows_put_job(ledger, bucket, &total, row);
        } else if (ledger->by == REPORT_BY_NODE) {
            row->node = pool_text(&ledger->bucket_keys, next);
        }
        rows_add_total(ledger, &total, view, &sum);
        next = bucket->next_of_row;
    }
    rows_conclude(ledger, &sum);
    return 0;
}
