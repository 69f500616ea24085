/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/show.h"

#define NS_PER_S 1e9

int show_add(struct show *show, const char *line, size_t size)
{
    size_t room = show->room ? 2 * show->room : 16;
    struct apapi_record *records;

    if (show->count == SHOW_RECORDS_MAX) {
        show->left_out++;
        return 0;
    }
    if (show->count == show->room) {
        records = reallocarray(show->records, room, sizeof *records);
        if (!records) {
            return -1;
        }
        show->records = records;
        show->room = room;
    }
    if (apapi_record_decode(line, size, &show->records[show->count], NULL)) {
        return -1;
    }
    show->count++;
    return 0;
}

void show_free(struct show *show)
{
    for (size_t i = 0; i < show->count; i++) {
        apapi_record_clear(&show->records[i]);
    }
    free(show->records);
    free(show->nodes);
    free(show->steps);
    *show = (struct show){0};
}

static int64_t end_of(const struct apapi_record *record)
{
    int64_t end_ns;

    return __builtin_add_overflow(record->measurement.start_unix_ns, record->measurement.elapsed_ns,
                                  &end_ns)
               ? INT64_MAX
               : end_ns;
}

static int compare_records(const void *left, const void *right)
{
    const struct apapi_record *a = left, *b = right;
    int order = strverscmp(a->id.node, b->id.node);

    if (order == 0 && a->measurement.start_unix_ns != b->measurement.start_unix_ns) {
        order = a->measurement.start_unix_ns < b->measurement.start_unix_ns ? -1 : 1;
    }
    if (order == 0) {
        order = strcmp(a->id.step, b->id.step);
    }
    if (order == 0 && a->measurement.elapsed_ns != b->measurement.elapsed_ns) {
        order = a->measurement.elapsed_ns > b->measurement.elapsed_ns ? -1 : 1;
    }
    return order;
}

/* A record that came twice; the longer one is the first. */
static bool is_twin(const struct apapi_record *a, const struct apapi_record *b)
{
    return strcmp(a->id.node, b->id.node) == 0 && strcmp(a->id.step, b->id.step) == 0 &&
           a->measurement.start_unix_ns == b->measurement.start_unix_ns;
}

static void tidy(struct show *show)
{
    size_t kept = 0;

    qsort(show->records, show->count, sizeof *show->records, compare_records);
    for (size_t i = 0; i < show->count; i++) {
        if (kept > 0 && is_twin(&show->records[kept - 1], &show->records[i])) {
            apapi_record_clear(&show->records[i]);
        } else {
            show->records[kept++] = show->records[i];
        }
    }
    show->count = kept;
}

/* The union of some records. */
static int total_of(const struct apapi_record *const *records, size_t count,
                    struct apapi_job_total *total)
{
    struct apapi_job *job = apapi_job_create();
    int result = job ? 0 : -1;

    for (size_t i = 0; i < count && result == 0; i++) {
        result = apapi_job_add(job, records[i]);
    }
    if (result == 0) {
        result = apapi_job_total(job, total);
    }
    apapi_job_destroy(job);
    return result;
}

static int work_out_nodes(struct show *show, const struct apapi_record **list)
{
    for (size_t i = 0, count; i < show->count; i += count) {
        struct show_node *node = &show->nodes[show->node_count++];
        struct apapi_job_total total;

        *node = (struct show_node){.name = show->records[i].id.node};
        for (count = 0;
             i + count < show->count && strcmp(show->records[i + count].id.node, node->name) == 0;
             count++) {
            list[count] = &show->records[i + count];
        }
        if (total_of(list, count, &total)) {
            return -1;
        }
        node->energy_j = total.energy_j;
        node->power_w = total.mean_w;
        node->known_s = (double)total.covered_ns / NS_PER_S;
        node->end_ns = total.end_unix_ns;
    }
    return 0;
}

static int compare_steps(const void *left, const void *right)
{
    const struct apapi_record *a = *(const struct apapi_record *const *)left,
                              *b = *(const struct apapi_record *const *)right;
    int order = strverscmp(a->id.step, b->id.step);

    return order ? order : compare_records(a, b);
}

static int work_out_steps(struct show *show, const struct apapi_record **list)
{
    for (size_t i = 0; i < show->count; i++) {
        list[i] = &show->records[i];
    }
    qsort(list, show->count, sizeof(struct apapi_record *), compare_steps);
    for (size_t i = 0, count; i < show->count; i += count) {
        struct show_step *step = &show->steps[show->step_count++];
        struct apapi_job_total total;

        *step = (struct show_step){.step = list[i]->id.step, .name = list[i]->id.name};
        for (count = 0;
             i + count < show->count && strcmp(list[i + count]->id.step, step->step) == 0;
             count++) {
        }
        if (total_of(list + i, count, &total)) {
            return -1;
        }
        step->start_ns = total.start_unix_ns;
        step->end_ns = total.end_unix_ns;
        step->nodes = total.nodes;
        step->energy_j = total.energy_j;
        step->power_w = total.mean_w;
    }
    return total_of(list, show->count, &show->total);
}

/* --- the curve ------------------------------------------------------------------------------ */

/* Mean power over a stretch of time, in which the record may begin or end [W]; and for how much of
 * it that is known [s]. */
static double power_between(const struct apapi_record *record, int64_t from_ns, int64_t to_ns,
                            double *known_s)
{
    const struct apapi_measurement *m = &record->measurement;
    int64_t begin_ns = from_ns > m->start_unix_ns ? from_ns : m->start_unix_ns;
    int64_t end_ns = to_ns < end_of(record) ? to_ns : end_of(record);
    double power_w = NAN;

    *known_s = 0;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS && end_ns > begin_ns; d++) {
        const struct apapi_domain_result *domain = &m->domains[d];
        uint64_t known_ns;
        double energy_j;

        if (!domain->measured || !apapi_domain_adds_up(d) || domain->timeline.count == 0) {
            continue;
        }
        energy_j = show_between_j(domain, (uint64_t)(begin_ns - m->start_unix_ns),
                                  (uint64_t)(end_ns - m->start_unix_ns), &known_ns);
        if (known_ns > 0) {
            power_w = (isnan(power_w) ? 0 : power_w) + energy_j * NS_PER_S / (double)known_ns;
            *known_s = fmax(*known_s, (double)known_ns / NS_PER_S);
        }
    }
    return power_w * (double)(end_ns - begin_ns) / (double)(to_ns - from_ns);
}

/* Each node by the record that knows most of it. */
static double column_power(const struct show *show, int64_t from_ns, int64_t to_ns)
{
    double sum_w = NAN, best_w = NAN, best_s = 0;

    for (size_t i = 0; i < show->count; i++) {
        bool last = i + 1 == show->count ||
                    strcmp(show->records[i].id.node, show->records[i + 1].id.node) != 0;
        double known_s, power_w = power_between(&show->records[i], from_ns, to_ns, &known_s);

        if (known_s > best_s) {
            best_w = power_w;
            best_s = known_s;
        }
        if (last && !isnan(best_w)) {
            sum_w = (isnan(sum_w) ? 0 : sum_w) + best_w;
        }
        if (last) {
            best_w = NAN;
            best_s = 0;
        }
    }
    return sum_w;
}

static void work_out_curve(struct show *show)
{
    int64_t start_ns = show->total.start_unix_ns;
    double length_ns = (double)(show->total.end_unix_ns - start_ns);

    for (int i = 0; i < SHOW_CURVE; i++) {
        show->curve_w[i] = column_power(show, start_ns + (int64_t)(length_ns * i / SHOW_CURVE),
                                        start_ns + (int64_t)(length_ns * (i + 1) / SHOW_CURVE));
    }
}

int show_work_out(struct show *show)
{
    const struct apapi_record **list = calloc(show->count + 1, sizeof(struct apapi_record *));
    int result = -1;

    tidy(show);
    show->nodes = calloc(show->count + 1, sizeof *show->nodes);
    show->steps = calloc(show->count + 1, sizeof *show->steps);
    if (list && show->nodes && show->steps) {
        result = work_out_nodes(show, list) || work_out_steps(show, list) ? -1 : 0;
    }
    if (result == 0) {
        work_out_curve(show);
    }
    free(list);
    return result;
}
