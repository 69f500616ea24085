/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "base/text.h"
#include "cli/job/job.h"
#include "record/members.h"
#include "record/record.h"
#include "sum/members.h"
#include "sum/sum.h"

void show_free(struct show *show)
{
    for (size_t i = 0; i < show->count; i++) {
        apapi_record_clear(&show->records[i]);
    }
    free(show->records);
    free(show->nodes);
    free(show->steps);
    free(show->shares);
    free(show->entries.list);
    sum_free(&show->store);
    *show = (struct show){0};
}

static int compare_records(const void *left, const void *right)
{
    const struct apapi_record *a = left, *b = right;
    int order = strverscmp(a->id.node, b->id.node);

    order = order ? order : COMPARE(a->measurement.start_unix_ns, b->measurement.start_unix_ns);
    return order ? order : strcmp(a->id.step, b->id.step);
}

static int compare_entries(const void *left, const void *right)
{
    const struct sum_entry *a = left, *b = right;
    int order = strverscmp(a->node, b->node);

    order = order ? order : COMPARE(a->start_ns, b->start_ns);
    return order ? order : strcmp(a->step, b->step);
}

/* Keep the records that count, where they belong in time and in their runs. */
static void job_work_settle(struct show *show)
{
    struct sum_piece *pieces = show->store.pieces; /* numbered as the records */
    size_t kept = 0;

    for (size_t i = 0; i < show->entries.count; i++) {
        const struct sum_entry *entry = &show->entries.list[i];
        size_t number = (size_t)(entry->piece - pieces);

        show->records[number].measurement.start_unix_ns = entry->start_ns;
        show->records[number].id.restarts = entry->restarts;
        pieces[number].mark = 0;
    }
    for (size_t i = 0; i < show->count; i++) {
        if (pieces[i].mark == POOL_NONE) {
            apapi_record_clear(&show->records[i]);
        } else {
            show->records[kept++] = show->records[i];
        }
    }
    show->count = kept;
    if (kept > 0) {
        qsort(show->records, kept, sizeof *show->records, compare_records);
        qsort(show->entries.list, kept, sizeof *show->entries.list, compare_entries);
    }
    for (size_t i = 0; i < kept; i++) {
        pieces[show->entries.list[i].piece - pieces].mark = (uint32_t)i;
    }
}

/* Add all of them up. */
static int job_work_add_up(struct show *show)
{
    show->store.lists = true;
    for (size_t i = 0; i < show->count; i++) {
        if (sum_add(&show->store, &show->records[i], NULL)) {
            return -1;
        }
        show->store.pieces[i].mark = POOL_NONE;
    }
    if (sum_gather(&show->store, NULL, show->count, &show->entries) ||
        sum_total(&show->store, &show->entries, &show->total) || sum_find_ends(&show->entries)) {
        return -1;
    }
    job_work_settle(show);
    return 0;
}

static int work_out_nodes(struct show *show, struct sum_entry *list)
{
    for (size_t i = 0, count; i < show->count; i += count) {
        struct show_node *node = &show->nodes[show->node_count++];

        node->name = show->records[i].id.node;
        count = sum_same_node(list + i, show->count - i);
        if (sum_total(&show->store, &(struct sum_entries){list + i, count}, &node->used)) {
            return -1;
        }
    }
    return 0;
}

static int job_work_compare_steps(const void *left, const void *right)
{
    const struct sum_entry *a = left, *b = right;
    int order = strverscmp(a->step, b->step);

    return order ? order : compare_entries(a, b);
}

/* Tasks before a requeue are not counted. */
static void add_up_tasks(const struct show *show, const struct sum_entry *list, size_t count,
                         struct show_step *step)
{
    const struct apapi_record *before = NULL;
    uint32_t last = APAPI_UNKNOWN;

    for (size_t i = 0; i < count; i++) {
        last = known_greater(last, list[i].restarts);
    }
    for (size_t i = 0; i < count; i++) {
        const struct apapi_record *record = &show->records[list[i].piece->mark];
        const struct apapi_identity *id = &record->id;

        if (id->restarts != last || (before && strcmp(before->id.node, id->node) == 0)) {
            continue;
        }
        step->tasks = before ? known_sum(step->tasks, id->tasks) : id->tasks;
        step->ending = before ? ending_of_both(&step->ending, &record->ending) : record->ending;
        before = record;
    }
}

static int work_out_steps(struct show *show, struct sum_entry *list)
{
    qsort(list, show->count, sizeof *list, job_work_compare_steps);
    for (size_t i = 0, count; i < show->count; i += count) {
        const struct apapi_identity *id = &show->records[list[i].piece->mark].id;
        struct show_step *step = &show->steps[show->step_count++];

        *step = (struct show_step){.step = id->step, .name = id->name};
        for (count = 1;
             i + count < show->count && list[i + count].piece->step == list[i].piece->step;
             count++) {
        }
        add_up_tasks(show, list + i, count, step);
        if (sum_total(&show->store, &(struct sum_entries){list + i, count}, &step->used)) {
            return -1;
        }
    }
    return 0;
}

int show_power(const struct show *show, const char *node, int domain, double *power_w,
               size_t columns)
{
    return sum_power(&show->store, &show->entries,
                     &(struct sum_power_request){node, domain, show->total.start_unix_ns,
                                                 show->total.end_unix_ns, columns},
                     power_w);
}

int show_work_out(struct show *show)
{
    struct sum_entry *list = NULL; /* sums sort them */
    int result = -1;

    show->nodes = calloc(show->count + 1, sizeof *show->nodes);
    show->steps = calloc(show->count + 1, sizeof *show->steps);
    if (show->nodes && show->steps && job_work_add_up(show) == 0) {
        list = array_copy(show->entries.list, show->entries.count, sizeof *list);
    }
    if (list) {
        result = work_out_nodes(show, list) || work_out_steps(show, list) ||
                         show_power(show, NULL, APAPI_DOMAIN_NONE, show->curve_w, SHOW_CURVE)
                     ? -1
                     : 0;
    }
    free(list);
    return result;
}

/* --- regions ---------------------------------------------------------------------------------- */

int show_regions(const struct show *show, const char *step, size_t max,
                 struct apapi_regions *regions)
{
    struct region_sums sums = {0};
    int failed = 0;

    for (size_t i = 0; i < show->count && !failed; i++) {
        if (!step || strcmp(show->records[i].id.step, step) == 0) {
            failed = region_sums_add(&sums, &show->records[i]);
        }
    }
    failed = failed || region_sums_result(&sums, max, regions);
    region_sums_free(&sums);
    return failed ? -1 : 0;
}

/* --- what `apapi show` and `apapi plot` have in common ---------------------------------------- */

static int compare_nodes(const void *left, const void *right)
{
    const struct show_node *a = left, *b = right;
    double a_j = isnan(a->used.energy_j) ? -1 : a->used.energy_j;
    double b_j = isnan(b->used.energy_j) ? -1 : b->used.energy_j;

    return a_j == b_j ? strverscmp(a->name, b->name) : a_j > b_j ? -1 : 1;
}

struct show_node *show_order_nodes(const struct show *show)
{
    struct show_node *nodes = array_copy(show->nodes, show->node_count + 1, sizeof *nodes);

    if (nodes) {
        qsort(nodes, show->node_count, sizeof *nodes, compare_nodes);
    }
    return nodes;
}

int show_table(const struct show *show, const char *job_id, char **text)
{
    const struct apapi_job_table_head head = {.job = job_id, .left_out = show->left_out};
    struct apapi_job job = {.store = show->store};
    int result = apapi_job_table_format(&job, &head, text, NULL);

    free(job.entries.list);
    return result;
}

static void say_count(struct remarks *remarks, size_t count, const char *what)
{
    if (count > 0) {
        remark(remarks, "%zu %s %s", count, count == 1 ? "was" : "were", what);
    }
}

void show_say_trust(const struct show *show, struct remarks *remarks)
{
    size_t complete = 0, recovered = 0, delayed = 0, verified = 0;
    double covered = NAN, uncertainty = NAN, cpu_s = 0; /* the lowest; the highest; of all */

    for (size_t i = 0; i < show->count; i++) {
        const struct apapi_record *record = &show->records[i];
        const struct apapi_measurement *m = &record->measurement;

        covered = fmin(covered, m->covered);
        uncertainty =
            fmax(uncertainty, apapi_record_uncertainty_j(m) / apapi_measurement_total_j(m));
        cpu_s += (double)m->cpu_ns / NS_PER_S;
        complete += record->complete;
        recovered += record->recovered;
        delayed += record->delayed;
        verified += record->id.verified;
    }
    remark(remarks, "%zu of %zu records are complete", complete, show->count);
    say_count(remarks, recovered, "recovered from what was saved while the step ran");
    say_count(remarks, delayed, "written late, as the node could not at the step's end");
    if (!isnan(covered)) {
        remark(remarks, "good readings cover %.1f %% of the time in the worst of them",
               floor(covered * 1000 + 1e-6) / 10);
    }
    if (isfinite(uncertainty)) {
        remark(remarks,
               "the energy of each is known to %.2g %% or better, errors of the meters aside",
               100 * uncertainty);
    }
    remark(remarks, "measuring took %.2f s of CPU time in all", cpu_s);
    remark(remarks, "%s",
           verified ? "the partition comes from Slurm, account and qos do if it knows them"
                    : "account, partition and qos come from the environment of the steps, "
                      "which the user controls");
}
