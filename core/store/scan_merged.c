/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the nodes of a merged record. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/clock.h"
#include "record/fields.h"
#include "store/scan_parts.h"

struct merged {
    const json_t *root, *nodes; /* borrowed */
    double total_j;             /* of all nodes; NaN: unknown for one of them */
    double elapsed_s;           /* of the step */
};

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* The share of this node in the sums. */
static double share_of_total(const struct merged *merged, const json_t *node)
{
    return merged->total_j > 0 ? number_of(node, "energy_j") / merged->total_j
                               : 1.0 / (double)json_array_size(merged->nodes);
}

/*
 * The part of a domain that is this node's. Older merged records say nothing of the domains of a
 * node: all have the same part of the sums then.
 * @return NaN: the node has not measured it
 */
static double scan_merged_share_of(const struct merged *merged, const json_t *node,
                                   const char *domain)
{
    const json_t *own = json_object_get(node, "domains");
    const json_t *sum = json_object_get(json_object_get(merged->root, "domains"), domain);
    double sum_j = number_of(sum, "energy_j");

    if (!own) {
        return share_of_total(merged, node);
    }
    own = json_object_get(own, domain);
    if (!own) {
        return NAN;
    }
    return sum_j > 0 ? number_of(own, "energy_j") / sum_j : share_of_total(merged, node);
}

static double scan_merged_uncertainty_of(const json_t *node, const char *domain, double share,
                                         const json_t *sum)
{
    const json_t *own = json_object_get(json_object_get(node, "domains"), domain);

    return own ? number_of(own, "uncertainty_j") : number_of(sum, "uncertainty_j") * share;
}

/* Each returns 0, or another value without memory. */

static int copy(json_t *record, const struct merged *merged, const char *const *keys)
{
    int result = 0;

    for (; *keys && result == 0; keys++) {
        json_t *value = json_object_get(merged->root, *keys);

        result = value ? json_object_set(record, *keys, value) : 0;
    }
    return result;
}

/* Sums or maxima over several nodes do not apply to a single node. */
static int scan_merged_put_identity(json_t *record, const struct merged *merged)
{
    static const char *const common[] = {
        "cluster", "job",    "array_job", "array_task",  "het_job",  "het_offset",
        "step",    "name",   "job_name",  "nodes",       "nodelist", "restarts",
        "uid",     "user",   "account",   "partition",   "qos",      "verified",
        "start",   "late_s", "exit_code", "exit_signal", NULL};
    static const char *const own[] = {"tasks", "cores", "gpus", "failed_tasks", NULL};
    int result = copy(record, merged, common);

    return result == 0 && json_array_size(merged->nodes) == 1 ? copy(record, merged, own) : result;
}

static int scan_merged_put_ending(json_t *record, const struct merged *merged, const char *name)
{
    const json_t *incomplete = json_object_get(merged->root, "incomplete"), *one;
    size_t index;

    json_array_foreach(incomplete, index, one)
    {
        const char *node = json_string_value(json_object_get(one, "node"));
        json_t *reason = json_object_get(one, "reason");

        if (node && strcmp(node, name) == 0) {
            return field_put(record, "complete", json_false()) ||
                   (reason && json_object_set(record, "reason", reason));
        }
    }
    return field_put(record, "complete", json_true());
}

static int scan_merged_put_domain(json_t *domain, const json_t *sum, double share)
{
    static const char *const keys[] = {"energy_j", "rest_j", "mean_w", "min_w", "max_w", NULL};
    int result = 0;

    for (size_t i = 0; keys[i] && result == 0; i++) {
        result = field_put_rounded(domain, keys[i], number_of(sum, keys[i]) * share, FIELD_FIGURES);
    }
    return result;
}

/* Older merged records do not say it. */
static int scan_merged_put_covered(json_t *domain, const json_t *node, const char *name,
                                   const json_t *sum)
{
    const json_t *own = json_object_get(json_object_get(node, "domains"), name);

    return field_put_rounded(domain, "covered", number_of(own ? own : sum, "covered"),
                             FIELD_FIGURES);
}

static int scan_merged_put_domains(json_t *record, const struct merged *merged, const json_t *node)
{
    json_t *domains = json_object(), *sum;
    const char *name;
    int result = field_put(record, "domains", domains);

    json_object_foreach(json_object_get(merged->root, "domains"), name, sum)
    {
        double share = scan_merged_share_of(merged, node, name);
        json_t *domain = isnan(share) ? NULL : json_object();

        if (domain) {
            result |= field_put(domains, name, domain) ||
                      scan_merged_put_domain(domain, sum, share) ||
                      field_put_rounded(domain, "uncertainty_j",
                                        scan_merged_uncertainty_of(node, name, share, sum),
                                        FIELD_FIGURES) ||
                      scan_merged_put_covered(domain, node, name, sum);
        }
    }
    return result;
}

/* Only timelines that start with the step. A domain with other bins than the first is omitted. */
static int scan_merged_put_timelines(json_t *record, const struct merged *merged,
                                     const json_t *node)
{
    const json_t *start = json_object_get(merged->root, "start");
    json_t *timelines = json_object(), *one;
    const char *name;
    int result = field_put(record, "timeline", timelines);

    json_object_foreach(json_object_get(merged->root, "timeline"), name, one)
    {
        json_t *width = json_object_get(one, "bin_s"), *domain;
        double share = scan_merged_share_of(merged, node, name);

        if (isnan(share) || !json_equal(json_object_get(one, "start"), start) || !width ||
            (json_object_size(timelines) > 0 &&
             !json_equal(width, json_object_get(timelines, "bin_s")))) {
            continue;
        }
        domain = json_copy(one);
        result |=
            json_object_set(timelines, "bin_s", width) |
            json_object_set_new(domain, "unit_j", json_real(number_of(one, "unit_j") * share)) |
            json_object_set_new(timelines, name, domain);
        json_object_del(domain, "start");
        json_object_del(domain, "bin_s");
    }
    fields_drop_empty(record, "timeline");
    return result;
}

static int scan_merged_put_trust(json_t *record, const json_t *node)
{
    json_t *trust = json_object(), *unknown = json_object_get(node, "unknown_domains");

    return field_put(record, "trust", trust) ||
           (unknown && json_object_set(trust, "unknown_domains", unknown)) ||
           field_put_measured(trust, "covered", number_of(node, "covered")) ||
           field_put(trust, "cpu_s", json_real(0));
}

/* @return its text, to be freed; NULL: out of memory. */
static char *record_of(const struct merged *merged, const json_t *node, const char *name)
{
    json_t *record = json_object();

    return fields_text(
        record,
        field_put(record, "apapi", json_integer(APAPI_RECORD_VERSION)) ||
            scan_merged_put_identity(record, merged) || field_put_text(record, "node", name) ||
            scan_merged_put_ending(record, merged, name) ||
            field_put_rounded(record, "elapsed_s", merged->elapsed_s, FIELD_FIGURES) ||
            scan_merged_put_domains(record, merged, node) ||
            field_put(record, "components", json_array()) ||
            scan_merged_put_timelines(record, merged, node) || scan_merged_put_trust(record, node));
}

/* From the first reading of any node to the last one. */
static double elapsed_of(const json_t *root)
{
    const char *start = json_string_value(json_object_get(root, "start"));
    const char *end = json_string_value(json_object_get(root, "end"));
    int64_t start_ns, end_ns;

    if (!start || !end || timestamp_parse(start, &start_ns) || timestamp_parse(end, &end_ns) ||
        start_ns < 0 || end_ns < start_ns) {
        return number_of(root, "elapsed_s");
    }
    return (double)(end_ns - start_ns) / NS_PER_S;
}

static int visit(const struct merged *merged, parts_f take, void *context)
{
    const json_t *node;
    size_t index;
    int result = 0;

    json_array_foreach(merged->nodes, index, node)
    {
        const char *name = json_string_value(json_object_get(node, "node"));
        char *text = name ? record_of(merged, node, name) : NULL;

        if (name && !text) {
            errno = ENOMEM;
            return -1;
        }
        result = text ? take(text, strlen(text), context) : 0;
        free(text);
        if (result) {
            break;
        }
    }
    return result;
}

int parts_of_merged(const char *text, size_t size, parts_f take, void *context)
{
    static const char key[] = "\"merged\"";
    json_t *root = memmem(text, size, key, sizeof key - 1)
                       ? json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL)
                       : NULL;
    struct merged merged = {.root = root, .nodes = json_object_get(root, "per_node")};
    const json_t *node;
    size_t index;
    int result = 1;

    if (json_is_integer(json_object_get(root, "merged")) && json_is_array(merged.nodes)) {
        json_array_foreach(merged.nodes, index, node)
        {
            merged.total_j += number_of(node, "energy_j");
        }
        merged.elapsed_s = elapsed_of(root);
        result = visit(&merged, take, context);
    }
    json_decref(root);
    return result;
}
