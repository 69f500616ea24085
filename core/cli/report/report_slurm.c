/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report/report_slurm.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/names.h"
#include "cli/totals/totals.h"
#include "cli/when.h"
#include "config/values.h"

#define PATIENCE_NS (30 * (uint64_t)NS_PER_S) /* for slurmdbd */

static bool report_slurm_is_in(const char *list, const char *name)
{
    return !list || (*name && config_names_have(list, name));
}

/* Of its states, records know two. */
static bool report_slurm_has_state(unsigned states, const struct sacct_job *job)
{
    for (unsigned state = 1; state <= REPORT_STATE_FAILED; state <<= 1) {
        if (states & state && strcmp(job->state, report_state_name(state)) == 0) {
            return true;
        }
    }
    return states == 0;
}

static int report_slurm_take(const struct sacct_job *job, void *context)
{
    struct report_slurm *slurm = context;
    const struct report_input *input = slurm->input;

    if (!isfinite(job->energy_j) || !report_slurm_is_in(input->accounts, job->account) ||
        !report_slurm_is_in(input->partitions, job->partition) ||
        !report_slurm_is_in(input->job_names, job->job_name) ||
        !report_slurm_has_state(slurm->ledger->states, job)) {
        return 0;
    }
    if (array_add(&slurm->jobs, slurm->count, &slurm->room, sizeof *slurm->jobs)) {
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

static void report_slurm_row(const struct sacct_job *job, struct report_row *row)
{
    *row = report_row_empty();
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

static const char *report_slurm_group_of(const struct sacct_job *job, enum report_group group)
{
    const char *const texts[REPORT_GROUPS] = {[REPORT_GROUP_USER] = job->user,
                                              [REPORT_GROUP_ACCOUNT] = job->account,
                                              [REPORT_GROUP_PARTITION] = job->partition,
                                              [REPORT_GROUP_QOS] = job->qos,
                                              [REPORT_GROUP_CLUSTER] = job->cluster,
                                              [REPORT_GROUP_DAY] = "",
                                              [REPORT_GROUP_REGION] = ""};

    return texts[group];
}

static int report_slurm_compare(const struct report_ledger *ledger, const struct sacct_job *one,
                                const struct sacct_job *other)
{
    int order = 0;

    for (size_t i = 0; i < ledger->group_count && order == 0; i++) {
        order = strcmp(report_slurm_group_of(one, ledger->groups[i]),
                       report_slurm_group_of(other, ledger->groups[i]));
    }
    return order;
}

static const char *report_slurm_same(const char *one, const char *other)
{
    return !one || strcmp(one, other) == 0 ? other : "";
}

static void report_slurm_identify(struct report_row *row, const struct sacct_job *job)
{
    row->cluster = report_slurm_same(row->cluster, job->cluster);
    row->user = report_slurm_same(row->user, job->user);
    row->account = report_slurm_same(row->account, job->account);
    row->partition = report_slurm_same(row->partition, job->partition);
    row->qos = report_slurm_same(row->qos, job->qos);
    row->job_name = report_slurm_same(row->job_name, job->job_name);
}

/* What only a row of one job has. Jobs of a group share nodes. */
static void report_slurm_forget_job(struct report_row *row)
{
    row->state = "";
    *row->job_id = *row->exit = '\0';
    row->nodes = row->energy_per_node_j = NAN;
}

/* Sums over a row that it does not show. What is unknown of one job is unknown of all. */
static void report_slurm_weigh(struct report_slurm_sum *sum, const struct sacct_job *job)
{
    double node_s = job->nodes * (isfinite(job->recorded_s) ? job->recorded_s : job->elapsed_s);

    sum->busy_s += job->mean_w > 0 ? job->energy_j / job->mean_w : 0;
    sum->node_s += node_s;
    sum->measured_s += node_s * job->measured_pct;
}

static void report_slurm_add(struct report_slurm_sum *sum, const struct sacct_job *job)
{
    struct report_row *row = &sum->row;
    struct report_row more;

    report_slurm_row(job, &more);
    report_slurm_identify(row, job);
    report_slurm_weigh(sum, job);
    row->start_ns = more.start_ns < row->start_ns ? more.start_ns : row->start_ns;
    row->end_ns = more.end_ns > row->end_ns ? more.end_ns : row->end_ns;
    row->jobs++;
    row->elapsed_s += more.elapsed_s;
    row->energy_j += more.energy_j;
    row->uncertainty_j += more.uncertainty_j;
    row->power_w = sum->busy_s > 0 ? row->energy_j / sum->busy_s : NAN;
    row->measured_pct = sum->node_s > 0 ? sum->measured_s / sum->node_s : NAN;
    row->incomplete += more.incomplete;
    row->complete = row->incomplete == 0;
}

static struct report_slurm_sum *report_slurm_find(const struct report_slurm *slurm,
                                                  const struct sacct_job *job)
{
    for (size_t i = 0; i < slurm->row_count && slurm->ledger->group_count > 0; i++) {
        if (report_slurm_compare(slurm->ledger, slurm->rows[i].first, job) == 0) {
            return &slurm->rows[i];
        }
    }
    return NULL;
}

static int report_slurm_sum(struct report_slurm *slurm)
{
    slurm->rows = calloc(slurm->count + 1, sizeof *slurm->rows);
    if (!slurm->rows) {
        return -1;
    }
    for (size_t i = 0; i < slurm->count; i++) {
        const struct sacct_job *job = &slurm->jobs[i];
        struct report_slurm_sum *sum = report_slurm_find(slurm, job);

        if (sum) {
            report_slurm_add(sum, job);
        } else {
            sum = &slurm->rows[slurm->row_count++];
            sum->first = job;
            report_slurm_row(job, &sum->row);
            report_slurm_weigh(sum, job);
            if (slurm->ledger->group_count > 0) {
                report_slurm_forget_job(&sum->row);
            }
        }
    }
    return 0;
}

/* qsort() has no context. */
static const struct report_field *sort_field;
static const struct report_ledger *sort_ledger;

static int compare_groups(const void *left, const void *right)
{
    const struct report_slurm_sum *one = left, *other = right;

    return report_slurm_compare(sort_ledger, one->first, other->first);
}

static int compare_numbers(const void *left, const void *right)
{
    const struct report_slurm_sum *one = left, *other = right;
    double a = report_field_number(sort_field, &one->row);
    double b = report_field_number(sort_field, &other->row);

    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

int report_slurm_rows(struct report_slurm *slurm, const struct report_field *sort)
{
    if (report_slurm_sum(slurm)) {
        return -1;
    }
    sort_field = sort;
    sort_ledger = slurm->ledger;
    if (sort || slurm->ledger->group_count > 0) {
        qsort(slurm->rows, slurm->row_count, sizeof *slurm->rows,
              sort ? compare_numbers : compare_groups);
    }
    return 0;
}

void report_slurm_free(struct report_slurm *slurm)
{
    int saved = errno;

    free(slurm->rows);
    free(slurm->jobs);
    slurm->jobs = NULL;
    errno = saved;
}
