/* SPDX-License-Identifier: BSD-3-Clause */
/* A step on all its nodes as one JSON object, see docs/merged.schema.json. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count_of.h"
#include "output/merge_encode_notes.h"
#include "record/domain_list.h"
#include "record/fields.h"
#include "record/regions.h"
#include "record/timeline.h"
#include "sum/merge_parts.h"

#define MERGED_VERSION 1
#define IN_ROW(member) offsetof(struct merge_event, member)
#define IN_COMPONENT(member) offsetof(struct merge_component, member)

static const struct field fields_of_row[] = {
    {"name", FIELD_TEXT, true, IN_ROW(event.name), APAPI_NAME_SIZE},
    {"kind", FIELD_KIND, false, IN_ROW(event.kind), 0},
    {"domain", FIELD_DOMAIN, false, IN_ROW(event.domain), 0},
    {"unit", FIELD_TEXT, true, IN_ROW(event.unit), APAPI_UNIT_SIZE},
    {"counter", FIELD_FLAG, false, IN_ROW(event.accumulates), 0},
    {"estimated", FIELD_FLAG, false, IN_ROW(event.estimated), 0},
    {"total", FIELD_MEASURED, false, IN_ROW(total), 0},
    {"min", FIELD_ROUGH, false, IN_ROW(min), 0},
    {"max", FIELD_ROUGH, false, IN_ROW(max), 0},
    {NULL, 0, false, 0, 0}};

static const struct field fields_of_source[] = {
    {"name", FIELD_TEXT, true, IN_COMPONENT(name), APAPI_COMPONENT_SIZE},
    {"source", FIELD_TEXT, true, IN_COMPONENT(source), 64},
    {NULL, 0, false, 0, 0}};

struct encoding {
    json_t *root;
    const struct apapi_merge *merge;
    const struct merge_node **nodes; /* nodes with a record, then nodes without */
    size_t recorded, present;
};

static int merge_encode_append(json_t *array, json_t *value)
{
    return json_array_append_new(array, value);
}

/* "17.0" is all that is known of a step without records. */
static void read_step(struct apapi_identity *id, const char *step)
{
    char *end;
    unsigned long job = strtoul(step, &end, 10);

    if (*step >= '0' && *step <= '9' && *end == '.' && job > 0 && job < APAPI_UNKNOWN) {
        id->job = (uint32_t)job;
        snprintf(id->step, sizeof id->step, "%s", end + 1);
    }
}

static bool is_complete(const struct encoding *encoding)
{
    for (size_t i = 0; i < encoding->recorded; i++) {
        if (encoding->nodes[i]->incomplete) {
            return false;
        }
    }
    return encoding->recorded == merge_expected(encoding->merge);
}

static int put_moments(const struct encoding *encoding)
{
    const struct apapi_merge *merge = encoding->merge;
    json_t *root = encoding->root;

    if (encoding->recorded == 0) {
        json_object_del(root, "start");
        json_object_del(root, "elapsed_s");
        json_object_del(root, "late_s");
        return 0;
    }
    if (field_put_rounded(root, "elapsed_s", merge->elapsed_s, FIELD_FIGURES) < 0 ||
        field_put_moment(root, "end", merge->end_unix_ns) < 0) {
        return -1;
    }
    return merge->late_ns > 0 ? field_put_text(root, "late_node", merge->latest->name) : 0;
}

/* The members that a record has, too. */
static int merge_encode_put_head(const struct encoding *encoding, const char *step)
{
    const struct apapi_merge *merge = encoding->merge;
    struct apapi_record head = {
        .id = encoding->recorded > 0 ? merge->id : APAPI_IDENTITY_UNKNOWN,
        .ending = encoding->recorded > 0 ? merge->ending : APAPI_ENDING_UNKNOWN,
        .complete = is_complete(encoding),
        .measurement = {.start_unix_ns = merge->start_unix_ns, .late_ns = merge->late_ns}};

    if (encoding->recorded == 0 && step) {
        read_step(&head.id, step);
    }
    head.id.node_index = APAPI_UNKNOWN;
    head.id.nodes = (uint32_t)merge_expected(merge);
    if (fields_encode(encoding->root, fields_of_record, &head) < 0) {
        return -1;
    }
    json_object_del(encoding->root, "node");
    return field_put_count(encoding->root, "recorded", encoding->recorded);
}

static json_t *encode_reason(const struct merge_node *node)
{
    json_t *object = json_object();

    if (field_put_text(object, "node", node->name) < 0 ||
        (node->reason && *node->reason && field_put_text(object, "reason", node->reason) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int put_troubled(const struct encoding *encoding)
{
    json_t *missing = json_array(), *incomplete = json_array();
    int rc = field_put(encoding->root, "missing", missing) |
             field_put(encoding->root, "incomplete", incomplete);

    for (size_t i = 0; i < encoding->present && rc == 0; i++) {
        const struct merge_node *node = encoding->nodes[i];

        if (i >= encoding->recorded) {
            rc = merge_encode_append(missing, encode_reason(node));
        } else if (node->incomplete) {
            rc = merge_encode_append(incomplete, encode_reason(node));
        }
    }
    return rc;
}

static json_t *encode_sum(const struct merge_domain *sum, double uncertainty_j)
{
    const struct apapi_domain_result domain = {.measured = true,
                                               .energy_j = sum->energy_j,
                                               .uncertainty_j = uncertainty_j,
                                               .covered = sum->covered,
                                               .rest_j = sum->rest_j,
                                               .power_w = sum->power_w};
    json_t *object = fields_object(fields_of_domain, &domain);

    if (field_put_count(object, "nodes", sum->nodes) < 0 ||
        (sum->bin_ns > 0 && field_put(object, "bin_s", json_real((double)sum->bin_ns / 1e9)) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int merge_encode_put_domains(const struct encoding *encoding)
{
    json_t *domains = json_object();
    int rc = field_put(encoding->root, "domains", domains);

    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS && rc == 0; i++) {
        struct merge_domain sum;

        merge_domain(encoding->merge, i, &sum);
        if (sum.nodes > 0) {
            rc = field_put(domains, apapi_domain_name(i), encode_sum(&sum, sum.uncertainty_j));
        }
    }
    return rc;
}

static int merge_encode_put_total(const struct encoding *encoding, const struct merge_total *total)
{
    json_t *object;

    if (total->sum.nodes == 0) {
        return 0;
    }
    object = encode_sum(&total->sum, NAN); /* is in the trust block */
    if (field_put(encoding->root, "total", object) < 0) {
        return -1;
    }
    if (!total->missing) {
        return 0;
    }
    return field_put(object, "partial", json_true()) |
           field_put(object, "missing_domains", domain_list_json(total->missing));
}

static json_t *encode_timeline(const struct apapi_timeline_sum *sum)
{
    json_t *object = timeline_object(&sum->timeline);

    if (field_put_moment(object, "start", sum->start_unix_ns) < 0 ||
        field_put(object, "bin_s", json_real((double)sum->timeline.bin_ns / 1e9)) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* A sum over some of the nodes would look as if the others drew nothing. */
static int merge_encode_put_timelines(const struct encoding *encoding)
{
    json_t *timelines = json_object();
    int rc = timelines ? 0 : -1;

    for (int i = APAPI_DOMAIN_NONE + 1; i < APAPI_DOMAINS && rc == 0; i++) {
        const struct merge_sum *sum = &encoding->merge->sums[i];

        if (sum->timelines > 0 && sum->timelines == sum->own.nodes) {
            rc = field_put(timelines, apapi_domain_name(i), encode_timeline(&sum->timeline));
        }
    }
    if (rc < 0 || json_object_size(timelines) == 0) {
        json_decref(timelines);
        return rc;
    }
    return field_put(encoding->root, "timeline", timelines);
}

static json_t *with_nodes(json_t *object, size_t nodes)
{
    if (field_put_count(object, "nodes", nodes) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int merge_encode_put_components(const struct encoding *encoding)
{
    json_t *components = json_array();
    int rc = field_put(encoding->root, "components", components);

    for (size_t i = 0; i < encoding->merge->component_count && rc == 0; i++) {
        const struct merge_component *component = &encoding->merge->components[i];

        rc = merge_encode_append(
            components, with_nodes(fields_object(fields_of_source, component), component->nodes));
    }
    return rc;
}

static json_t *encode_row(const struct merge_event *row)
{
    json_t *object = with_nodes(fields_object(fields_of_row, row), row->nodes);

    if (field_put_rounded(object, "mean", row->covered_s > 0 ? row->weighted / row->covered_s : NAN,
                          FIELD_MEASURED_FIGURES) < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int merge_encode_put_events(const struct encoding *encoding)
{
    const struct merge_events *events = &encoding->merge->events;
    json_t *array = json_array();
    int rc = field_put(encoding->root, "events", array);

    for (size_t i = 0; i < events->count && rc == 0; i++) {
        rc = merge_encode_append(array, encode_row(&events->rows[i]));
    }
    return rc == 0 && events->full ? field_put(encoding->root, "more_events", json_true()) : rc;
}

static int put_spans(json_t *trust, const struct apapi_merge *merge)
{
    const struct merge_span *covered = &merge->covered_pct, *samples = &merge->samples;

    if (isnan(covered->least)) {
        return 0;
    }
    return field_put_rounded(trust, "covered", covered->least / 100, FIELD_MEASURED_FIGURES) |
           field_put_rounded(trust, "covered_max", covered->most / 100, FIELD_MEASURED_FIGURES) |
           field_put_count(trust, "samples", (uint64_t)samples->least) |
           field_put_count(trust, "samples_max", (uint64_t)samples->most);
}

static int merge_encode_put_trust(const struct encoding *encoding, const struct merge_total *total)
{
    const struct apapi_merge *merge = encoding->merge;
    const struct apapi_incidents *sum = &merge->incidents;
    const struct {
        const char *key;
        uint64_t count;
    } counts[] = {{"failed", sum->failed},   {"wraps", sum->wraps}, {"resets", sum->resets},
                  {"refused", sum->refused}, {"gaps", sum->gaps},   {"stalls", sum->stalls},
                  {"missed", merge->missed}};
    json_t *trust = json_object();
    int rc = field_put(encoding->root, "trust", trust);

    if (rc == 0) {
        rc = put_spans(trust, merge) |
             field_put(trust, "cpu_s", json_real((double)merge->cpu_ns / 1e9)) |
             field_put_rounded(trust, "uncertainty_j", total->sum.uncertainty_j,
                               FIELD_ROUGH_FIGURES);
    }
    for (size_t i = 0; i < COUNT_OF(counts) && rc == 0; i++) {
        rc = field_put_count(trust, counts[i].key, counts[i].count);
    }
    return rc == 0 && sum->rough > 0 ? field_put_count(trust, "rough", sum->rough) : rc;
}

static json_t *encode_node_domains(const struct merge_node *node)
{
    json_t *domains = json_object();

    for (size_t i = 0; i < node->domain_count && domains; i++) {
        const struct merge_node_domain *known = &node->domains[i];
        json_t *domain = json_object();

        if (field_put(domains, apapi_domain_name(known->domain), domain) < 0 ||
            field_put_rounded(domain, "energy_j", known->energy_j, FIELD_MEASURED_FIGURES) < 0 ||
            field_put_rounded(domain, "uncertainty_j", (double)known->uncertainty_j,
                              FIELD_ROUGH_FIGURES) < 0 ||
            (known->covered > 0 && field_put_rounded(domain, "covered", (double)known->covered,
                                                     FIELD_ROUGH_FIGURES) < 0)) {
            json_decref(domains);
            return NULL;
        }
    }
    return domains;
}

static json_t *encode_node(const struct merge_node *node)
{
    json_t *object = json_object();

    if (field_put_text(object, "node", node->name) < 0 ||
        field_put_rounded(object, "energy_j", node->total_j, FIELD_MEASURED_FIGURES) < 0 ||
        field_put_rounded(object, "covered", node->covered, FIELD_MEASURED_FIGURES) < 0 ||
        (node->domain_count > 0 && field_put(object, "domains", encode_node_domains(node)) < 0) ||
        (node->unknown_domains &&
         field_put(object, "unknown_domains", domain_list_json(node->unknown_domains)) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int merge_encode_put_nodes(const struct encoding *encoding)
{
    json_t *array = json_array();
    int rc = field_put(encoding->root, "per_node", array);

    for (size_t i = 0; i < encoding->recorded && rc == 0; i++) {
        rc = merge_encode_append(array, encode_node(encoding->nodes[i]));
    }
    return rc;
}

static int merge_encode_put_regions(const struct encoding *encoding)
{
    struct apapi_regions regions;
    int rc = region_sums_result(&encoding->merge->regions, APAPI_REGIONS_MAX, &regions);

    if (rc == 0) {
        rc = regions_encode(encoding->root, &regions, true);
        apapi_regions_clear(&regions);
    }
    return rc;
}

static json_t *encode_crossing(const struct merge_crossing *row)
{
    json_t *object = json_object();

    if (field_put_text(object, "threshold", row->first.threshold) < 0 ||
        field_put_count(object, "nodes", row->nodes) < 0 ||
        field_put_count(object, "count", row->first.count) < 0 ||
        field_put_moment(object, "first", row->first.unix_ns) < 0 ||
        field_put_text(object, "first_node", row->first_node->name) < 0 ||
        field_put_moment(object, "last", row->last_unix_ns) < 0 ||
        field_put_rounded(object, "value", row->first.value, FIELD_MEASURED_FIGURES) < 0 ||
        (*row->first.unit && field_put_text(object, "unit", row->first.unit) < 0) ||
        (*row->first.action && field_put_text(object, "action", row->first.action) < 0)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int merge_encode_put_crossings(const struct encoding *encoding)
{
    const struct merge_crossings *crossings = &encoding->merge->crossings;
    json_t *array;
    int rc;

    if (crossings->count == 0) {
        return 0;
    }
    array = json_array();
    rc = field_put(encoding->root, "crossings", array);
    for (size_t i = 0; i < crossings->count && rc == 0; i++) {
        rc = merge_encode_append(array, encode_crossing(&crossings->rows[i]));
    }
    return rc;
}

static int merge_encode_put_merged(const struct encoding *encoding, const char *step)
{
    struct merge_total total;

    merge_total(encoding->merge, &total);
    if (field_put(encoding->root, "merged", json_integer(MERGED_VERSION)) < 0 ||
        merge_encode_put_head(encoding, step) < 0 || put_moments(encoding) < 0 ||
        put_troubled(encoding) < 0 || merge_encode_put_domains(encoding) < 0 ||
        merge_encode_put_total(encoding, &total) < 0 || merge_encode_put_components(encoding) < 0 ||
        merge_encode_put_events(encoding) < 0 ||
        merge_encode_notes(encoding->root, &encoding->merge->notes, encoding->recorded) < 0 ||
        merge_encode_put_timelines(encoding) < 0) {
        return -1;
    }
    if (encoding->recorded > 0 && merge_encode_put_trust(encoding, &total) < 0) {
        return -1;
    }
    return merge_encode_put_nodes(encoding) < 0 || merge_encode_put_crossings(encoding) < 0 ||
                   share_sum_encode(encoding->root, &encoding->merge->share) < 0
               ? -1
               : merge_encode_put_regions(encoding);
}

int apapi_merge_encode(const struct apapi_merge *merge, const char *step, char **line,
                       struct apapi_error *err)
{
    struct encoding encoding = {.merge = merge, .present = apapi_merge_count(merge)};
    ssize_t recorded = merge->no_memory ? -1 : merge_nodes(merge, &encoding.nodes);
    char *text = NULL;

    if (recorded >= 0) {
        encoding.recorded = (size_t)recorded;
        encoding.root = json_object();
        if (merge_encode_put_merged(&encoding, step) == 0) {
            text = json_dumps(encoding.root, JSON_COMPACT | JSON_REAL_PRECISION(FIELD_FIGURES));
        }
        json_decref(encoding.root);
        free(encoding.nodes);
    }
    if (!text) {
        return apapi_fail(err, ENOMEM, "merged record: out of memory");
    }
    *line = text;
    return 0;
}
