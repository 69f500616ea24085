/* SPDX-License-Identifier: BSD-3-Clause */
/* apapi show for programs, described in apapi-show(1). Unknown values have no key. */
#include <math.h>

#include "base/clock.h"
#include "cli/job/job_view.h"
#include "cli/json.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"

static int show_json_put_domain(json_t *object, const void *total, size_t d)
{
    const struct apapi_job_domain *domain = &((const struct apapi_job_total *)total)->domains[d];

    if (!domain->nodes) {
        return FIELDS_NONE;
    }
    return field_put_measured(object, "energy_j", domain->energy_j) ||
           field_put_rough(object, "uncertainty_j", domain->uncertainty_j) ||
           field_put_measured(object, "covered",
                              (double)domain->covered_ns / (double)domain->recorded_ns) ||
           field_put_count(object, "nodes", domain->nodes);
}

static int put_missing_domains(json_t *object, uint32_t missing)
{
    return missing ? field_put(object, "missing_domains", domain_list_json(missing)) : 0;
}

static int put_known(json_t *object, const char *key, uint32_t number)
{
    return number == APAPI_UNKNOWN ? 0 : field_put_count(object, key, number);
}

static int put_tasks(json_t *object, const struct show_step *step)
{
    return put_known(object, "tasks", step->tasks) || put_known(object, "cores", step->cores) ||
           put_known(object, "gpus", step->gpus) ||
           put_known(object, "exit_code", step->ending.code) ||
           put_known(object, "exit_signal", step->ending.signal) ||
           put_known(object, "failed_tasks", step->ending.failed);
}

static int show_json_put_step(json_t *object, const void *steps, size_t i)
{
    const struct show_step *step = &((const struct show_step *)steps)[i];

    return field_put_text(object, "step", step->step) ||
           field_put_text(object, "name", step->name) ||
           field_put_count(object, "nodes", step->nodes) || put_tasks(object, step) ||
           field_put_moment(object, "start", step->start_ns) ||
           field_put_moment(object, "end", step->end_ns) ||
           field_put_measured(object, "energy_j", step->energy_j) ||
           field_put_rough(object, "uncertainty_j", step->uncertainty_j) ||
           put_missing_domains(object, step->missing_domains) ||
           field_put_measured(object, "mean_w", step->power_w);
}

static int show_json_put_node(json_t *object, const void *nodes, size_t i)
{
    const struct show_node *node = &((const struct show_node *)nodes)[i];

    return field_put_text(object, "node", node->name) ||
           field_put_measured(object, "energy_j", node->energy_j) ||
           field_put_rough(object, "uncertainty_j", node->uncertainty_j) ||
           put_missing_domains(object, node->missing_domains) ||
           field_put_measured(object, "mean_w", node->power_w) ||
           field_put_measured(object, "measured_s", node->known_s);
}

/* Only here null stands for unknown: the columns of the curve keep their positions. */
static int put_curve(json_t *object, const struct show *show)
{
    double length_s = (double)(show->total.end_unix_ns - show->total.start_unix_ns) / NS_PER_S;
    json_t *curve = json_object(), *powers = json_array();
    int result = field_put(object, "power", curve) ||
                 field_put_measured(curve, "bin_s", length_s / SHOW_CURVE) ||
                 field_put(curve, "power_w", powers);

    for (int i = 0; i < SHOW_CURVE && result == 0; i++) {
        double power_w = show->curve_w[i];

        result = json_array_append_new(powers, isnan(power_w) ? json_null() : json_real(power_w));
    }
    return result;
}

static int show_json_put_trust(json_t *object, const struct show *show)
{
    const struct show_trust sum = show_trust(show);
    json_t *trust = json_object();

    return field_put(object, "trust", trust) || field_put_count(trust, "complete", sum.complete) ||
           field_put_count(trust, "recovered", sum.recovered) ||
           field_put_count(trust, "delayed", sum.delayed) ||
           field_put_count(trust, "verified", sum.verified) ||
           field_put_measured(trust, "covered", sum.covered) ||
           field_put_measured(trust, "uncertainty", sum.uncertainty) ||
           field_put_measured(trust, "cpu_s", sum.cpu_s);
}

struct list {
    json_t *array;
    int result;
};

static void show_json_say_unusual(const char *text, void *context)
{
    struct list *list = context;

    list->result |= json_array_append_new(list->array, json_string(text));
}

static int show_json_put_unusual(json_t *object, const struct show *show)
{
    struct list list = {.array = json_array()};

    if (field_put(object, "odd", list.array)) {
        return -1;
    }
    show_find_unusual(show, show_json_say_unusual, &list);
    return list.result;
}

static void put_gap(const struct show_gap *gap, void *context)
{
    struct list *list = context;
    json_t *element = json_object();

    list->result |= json_array_append_new(list->array, element) ||
                    field_put_text(element, "step", gap->step) ||
                    (gap->restarts > 0 && field_put_count(element, "restarts", gap->restarts)) ||
                    field_put_count(element, "nodes", gap->nodes) ||
                    field_put_count(element, "missing", gap->lacking) ||
                    (*gap->nodelist && field_put_text(element, "missing_nodes", gap->nodelist));
}

static int show_json_put_step_regions(const struct show_step *step,
                                      const struct apapi_regions *regions, void *array)
{
    json_t *element = json_object();

    return json_array_append_new(array, element) || field_put_text(element, "step", step->step) ||
                   regions_encode(element, regions, true)
               ? -1
               : 0;
}

/* Without a key if no step has any. */
static int show_json_put_regions(json_t *object, const struct show *show)
{
    json_t *steps = json_array();
    int result = field_put(object, "regions", steps) ||
                 show_each_regions(show, APAPI_REGIONS_MAX, show_json_put_step_regions, steps);

    fields_drop_empty(object, "regions");
    return result;
}

static int show_json_put_missing(json_t *object, const struct show *show)
{
    struct list list = {.array = json_array()};

    return field_put(object, "missing", list.array) || show_find_gaps(show, put_gap, &list) ||
           list.result;
}

static int show_json_put_identity(json_t *object, const struct apapi_identity *id,
                                  const char *job_id)
{
    return field_put_text(object, "job", job_id) ||
           (*id->cluster && field_put_text(object, "cluster", id->cluster)) ||
           (*id->user && field_put_text(object, "user", id->user)) ||
           (*id->account && field_put_text(object, "account", id->account)) ||
           (*id->partition && field_put_text(object, "partition", id->partition)) ||
           (*id->job_name && field_put_text(object, "job_name", id->job_name));
}

int show_print_json(const struct show *show, const char *job_id)
{
    const struct apapi_job_total *total = &show->total;
    json_t *object = json_pack("{s:i}", "version", 1);

    return json_print(
        object,
        show_json_put_identity(object, &show->records[0].id, job_id) ||
            field_put_moment(object, "start", total->start_unix_ns) ||
            field_put_moment(object, "end", total->end_unix_ns) ||
            field_put_count(object, "records", total->records) ||
            field_put_measured(object, "energy_j", total->energy_j) ||
            field_put_rough(object, "uncertainty_j", total->uncertainty_j) ||
            put_missing_domains(object, total->missing_domains) ||
            field_put_measured(object, "mean_w", total->mean_w) ||
            field_put_measured(object, "measured", apapi_job_measured(total, 0)) ||
            field_put_measured(object, "elapsed_s", (double)total->elapsed_ns / NS_PER_S) ||
            field_put_count(object, "runs", total->runs) ||
            fields_put_domains(object, "domains", show_json_put_domain, total) ||
            fields_put_list(object, "steps", show->step_count, show_json_put_step, show->steps) ||
            fields_put_list(object, "nodes", show->node_count, show_json_put_node, show->nodes) ||
            show_json_put_regions(object, show) || show_json_put_missing(object, show) ||
            put_curve(object, show) || show_json_put_trust(object, show) ||
            show_json_put_unusual(object, show));
}
