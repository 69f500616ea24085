/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_slurm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/duration.h"
#include "base/pool.h"
#include "cli/when.h"
#include "config/values.h"

#define PATIENCE_NS (30 * (uint64_t)NS_PER_S) /* for slurmdbd */

static bool report_slurm_is_in(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

static int report_slurm_take(const struct sacct_job *job, void *context)
{
    struct report_slurm *slurm = context;
    const struct report_input *input = slurm->input;

    if (!isfinite(job->energy_j) || !report_slurm_is_in(input->accounts, job->account) ||
        !report_slurm_is_in(input->partitions, job->partition) ||
        !report_slurm_is_in(input->job_names, job->job_name)) {
        return 0;
    }
    if (pool_reserve(&slurm->jobs, slurm->count, &slurm->room, sizeof *slurm->jobs)) {
        return -1;
    }
    slurm->jobs[slurm->count++] = *job;
    return 0;
}

/* Without a user and a job, those of the caller, as for sacct. */
int report_slurm_read(struct report_slurm *slurm, struct apapi_error *err)
{
    const struct report_input *input = slurm->input;
    struct sacct_query query = {.jobs = input->jobs,
                                .users = input->users,
                                .clusters = input->clusters,
                                .deadline_ns = clock_monotonic_ns() + PATIENCE_NS};
    int64_t now_ns = clock_unix_ns(), from_ns = 0, to_ns = 0;
    char own[16];

    if ((input->from_text && when_parse(input->from_text, now_ns, &from_ns, err)) ||
        (input->to_text && when_parse(input->to_text, now_ns, &to_ns, err))) {
        return -1;
    }
    query.from_s = from_ns / NS_PER_S;
    query.to_s = to_ns / NS_PER_S;
    if (!query.users && !query.jobs) {
        snprintf(own, sizeof own, "%u", (unsigned)geteuid());
        query.users = own;
    }
    return sacct_read(&query, report_slurm_take, slurm, err);
}

/* qsort() has no context. */
static const struct report_field *sort_field;

static int compare_jobs(const void *left, const void *right)
{
    struct report_row rows[2];
    double a, b;

    report_slurm_row(left, &rows[0]);
    report_slurm_row(right, &rows[1]);
    a = report_field_number(sort_field, &rows[0]);
    b = report_field_number(sort_field, &rows[1]);
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

void report_slurm_sort(struct report_slurm *slurm, const struct report_field *field)
{
    if (field && slurm->count > 0) {
        sort_field = field;
        qsort(slurm->jobs, slurm->count, sizeof *slurm->jobs, compare_jobs);
    }
}

static void report_slurm_forget(struct report_row *row)
{
    *row = (struct report_row){.name = "",
                               .reason = "",
                               .day = "",
                               .node = "",
                               .steps = NAN,
                               .records = NAN,
                               .missing = NAN,
                               .delayed = NAN,
                               .restarts = NAN,
                               .max_power_w = NAN,
                               .covered_pct = NAN,
                               .co2_g = NAN,
                               .cost = NAN};
    for (int d = 0; d < APAPI_DOMAINS; d++) {
        row->domain_j[d] = NAN;
    }
}

void report_slurm_row(const struct sacct_job *job, struct report_row *row)
{
    report_slurm_forget(row);
    row->cluster = job->cluster;
    row->user = job->user;
    row->account = job->account;
    row->partition = job->partition;
    row->qos = job->qos;
    row->job_name = job->job_name;
    row->state = job->state;
    snprintf(row->job_id, sizeof row->job_id, "%.*s", (int)sizeof row->job_id - 1, job->job_id);
    snprintf(row->exit, sizeof row->exit, "%.*s", (int)sizeof row->exit - 1, job->exit);
    row->start_ns = job->start_s * NS_PER_S;
    row->end_ns = job->end_s * NS_PER_S;
    row->jobs = 1;
    row->nodes = job->nodes;
    row->elapsed_s = job->elapsed_s;
    row->energy_j = job->energy_j;
    row->uncertainty_j = job->uncertainty_j;
    row->energy_per_node_j = job->nodes > 0 ? job->energy_j / job->nodes : NAN;
    row->power_w = job->mean_w;
    row->measured_pct = job->measured_pct;
    row->incomplete = job->incomplete;
    row->complete = job->incomplete == 0;
}

void report_slurm_free(struct report_slurm *slurm)
{
    int saved = errno;

    free(slurm->jobs);
    slurm->jobs = NULL;
    errno = saved;
}
