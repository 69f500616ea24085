/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"
#include "record/tree.h"
#include "sum/merge.h"

/* --- notes ------------------------------------------------------------------------------------ */

/* A note about all nodes with a record needs no names. */
static int put_names(json_t *object, const struct merge_note *note, size_t recorded)
{
    json_t *names;
    int rc;

    if (note->nodes == recorded) {
        return 0;
    }
    names = json_array();
    rc = field_put(object, "names", names);
    for (size_t i = 0; i < note->named && rc == 0; i++) {
        rc = json_array_append_new(names, field_text(note->names[i]));
    }
    return rc;
}

/* The notes of nodes, sorted, and on how many nodes a record has been made. */
struct encoded_notes {
    const struct merge_note **sorted;
    size_t recorded;
};

static int put_note(json_t *object, const void *context, size_t i)
{
    const struct encoded_notes *notes = context;
    const struct merge_note *note = notes->sorted[i];

    if (note->kind != MERGE_NOTE_COMPONENT && note->kind != MERGE_NOTE_STUCK) {
        return FIELDS_NONE;
    }
    return field_put_text(object, note->kind == MERGE_NOTE_STUCK ? "event" : "component",
                          note->subject) ||
           field_put_text(object, "verdict", note->verdict) ||
           (*note->reason && field_put_text(object, "reason", note->reason)) ||
           (note->outages > 0 &&
            (field_put_count(object, "outages", note->outages) ||
             field_put(object, "outage_s", json_real((double)note->outage_ns / 1e9)))) ||
           field_put_count(object, "nodes", note->nodes) ||
           put_names(object, note, notes->recorded);
}

static int merge_encode_notes(json_t *root, const struct merge_notes *notes, size_t recorded)
{
    const struct encoded_notes encoded = {merge_notes_sorted(notes), recorded};
    int rc = encoded.sorted ? fields_put_list(root, "notes", notes->count, put_note, &encoded) : -1;

    free(encoded.sorted);
    return rc == 0 && notes->full ? field_put(root, "more_notes", json_true()) : rc;
}

/* --- all -------------------------------------------------------------------------------------- */

/* A step on all its nodes as one JSON object, see docs/merged.schema.json. */

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
        char *end;
        unsigned long job = strtoul(step, &end, 10);

        if (*step >= '0' && *step <= '9' && *end == '.' && job > 0 && job < APAPI_UNKNOWN) {
            head.id.job = (uint32_t)job;
            snprintf(head.id.step, sizeof head.id.step, "%s", end + 1);
        }
    }
    head.id.node_index = APAPI_UNKNOWN;
    head.id.nodes = (uint32_t)merge_expected(merge);
    if (fields_encode(encoding->root, fields_of_record, &head) < 0) {
        return -1;
    }
    json_object_del(encoding->root, "node");
    return field_put_count(encoding->root, "recorded", encoding->recorded);
}

static int put_reason(json_t *object, const struct merge_node *node)
{
    return field_put_text(object, "node", node->name) ||
           (node->reason && *node->reason && field_put_text(object, "reason", node->reason));
}

static int put_missing(json_t *object, const void *context, size_t i)
{
    const struct encoding *encoding = context;

    return put_reason(object, encoding->nodes[encoding->recorded + i]);
}

static int put_incomplete(json_t *object, const void *context, size_t i)
{
    const struct merge_node *node = ((const struct encoding *)context)->nodes[i];

    return node->incomplete ? put_reason(object, node) : FIELDS_NONE;
}

static int put_sum(json_t *object, const struct merge_domain *sum, double uncertainty_j)
{
    const struct apapi_domain_result domain = {.measured = true,
                                               .energy_j = sum->energy_j,
                                               .uncertainty_j = uncertainty_j,
                                               .covered = sum->covered,
                                               .rest_j = sum->rest_j,
                                               .power_w = sum->power_w};

    return fields_encode(object, fields_of_domain, &domain) ||
           field_put_count(object, "nodes", sum->nodes) ||
           (sum->bin_ns > 0 && field_put(object, "bin_s", json_real((double)sum->bin_ns / 1e9)));
}

static int merge_encode_put_domain(json_t *object, const void *merge, size_t d)
{
    struct merge_domain sum;

    merge_domain(merge, (int)d, &sum);
    return sum.nodes > 0 ? put_sum(object, &sum, sum.uncertainty_j) : FIELDS_NONE;
}

static int merge_encode_put_total(const struct encoding *encoding, const struct merge_total *total)
{
    json_t *object;

    if (total->sum.nodes == 0) {
        return 0;
    }
    object = json_object();
    return field_put(encoding->root, "total", object) ||
           put_sum(object, &total->sum, NAN) || /* is in the trust block */
           (total->missing &&
            (field_put(object, "partial", json_true()) ||
             field_put(object, "missing_domains", domain_list_json(total->missing))));
}

/* A sum over some of the nodes would look as if the others drew nothing. */
static int merge_encode_put_timeline(json_t *object, const void *merge, size_t d)
{
    const struct merge_sum *sum = &((const struct apapi_merge *)merge)->sums[d];

    if (sum->timelines == 0 || sum->timelines != sum->own.nodes) {
        return FIELDS_NONE;
    }
    return timeline_encode(object, &sum->timeline.timeline) ||
           field_put_moment(object, "start", sum->timeline.start_unix_ns) ||
           field_put(object, "bin_s", json_real((double)sum->timeline.timeline.bin_ns / 1e9));
}

static int merge_encode_put_timelines(const struct encoding *encoding)
{
    int rc =
        fields_put_domains(encoding->root, "timeline", merge_encode_put_timeline, encoding->merge);

    fields_drop_empty(encoding->root, "timeline");
    return rc;
}

static int merge_encode_put_component(json_t *object, const void *merge, size_t i)
{
    const struct merge_component *component = &((const struct apapi_merge *)merge)->components[i];

    return fields_encode(object, fields_of_source, component) ||
           field_put_count(object, "nodes", component->nodes);
}

static int merge_encode_put_event(json_t *object, const void *events, size_t i)
{
    const struct merge_event *row = &((const struct merge_events *)events)->rows[i];

    return fields_encode(object, fields_of_row, row) ||
           field_put_count(object, "nodes", row->nodes) ||
           field_put_measured(object, "mean",
                              row->covered_s > 0 ? row->weighted / row->covered_s : NAN);
}

static int merge_encode_put_events(const struct encoding *encoding)
{
    const struct merge_events *events = &encoding->merge->events;

    return fields_put_list(encoding->root, "events", events->count, merge_encode_put_event,
                           events) ||
           (events->full && field_put(encoding->root, "more_events", json_true()));
}

static int put_spans(json_t *trust, const struct apapi_merge *merge)
{
    const struct merge_span *covered = &merge->covered_pct, *samples = &merge->samples;

    if (isnan(covered->least)) {
        return 0;
    }
    return field_put_measured(trust, "covered", covered->least / 100) |
           field_put_measured(trust, "covered_max", covered->most / 100) |
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
             field_put_rough(trust, "uncertainty_j", total->sum.uncertainty_j);
    }
    for (size_t i = 0; i < COUNT_OF(counts) && rc == 0; i++) {
        rc = field_put_count(trust, counts[i].key, counts[i].count);
    }
    return rc == 0 && sum->rough > 0 ? field_put_count(trust, "rough", sum->rough) : rc;
}

static int put_node_domain(json_t *object, const void *context, size_t d)
{
    const struct merge_node *node = context;
    const struct merge_node_domain *known = node->domains;

    while (known < node->domains + node->domain_count && (size_t)known->domain != d) {
        known++;
    }
    if (known == node->domains + node->domain_count) {
        return FIELDS_NONE;
    }
    return field_put_measured(object, "energy_j", known->energy_j) ||
           field_put_rough(object, "uncertainty_j", (double)known->uncertainty_j) ||
           (known->covered > 0 && field_put_rough(object, "covered", (double)known->covered));
}

static int merge_encode_put_node(json_t *object, const void *nodes, size_t i)
{
    const struct merge_node *node = ((const struct merge_node *const *)nodes)[i];

    return field_put_text(object, "node", node->name) ||
           field_put_measured(object, "energy_j", node->total_j) ||
           field_put_measured(object, "covered", node->covered) ||
           (node->domain_count > 0 &&
            fields_put_domains(object, "domains", put_node_domain, node)) ||
           (node->unknown_domains &&
            field_put(object, "unknown_domains", domain_list_json(node->unknown_domains)));
}

static int merge_encode_put_regions(const struct encoding *encoding)
{
    struct apapi_regions regions;
    int rc = region_sums_result(&encoding->merge->regions, APAPI_REGIONS_MAX, &regions);

    if (rc == 0) {
        rc = regions_encode(encoding->root, &regions);
        apapi_regions_clear(&regions);
    }
    return rc;
}

static int merge_encode_put_crossing(json_t *object, const void *crossings, size_t i)
{
    const struct merge_crossing *row = &((const struct merge_crossings *)crossings)->rows[i];

    return field_put_text(object, "threshold", row->first.threshold) ||
           field_put_count(object, "nodes", row->nodes) ||
           field_put_count(object, "count", row->first.count) ||
           field_put_moment(object, "first", row->first.unix_ns) ||
           field_put_text(object, "first_node", row->first_node->name) ||
           field_put_moment(object, "last", row->last_unix_ns) ||
           field_put_measured(object, "value", row->first.value) ||
           (*row->first.unit && field_put_text(object, "unit", row->first.unit)) ||
           (*row->first.action && field_put_text(object, "action", row->first.action));
}

static int merge_encode_put_merged(const struct encoding *encoding, const char *step)
{
    const struct apapi_merge *merge = encoding->merge;
    json_t *root = encoding->root;
    struct merge_total total;

    merge_total(merge, &total);
    return field_put(root, "merged", json_integer(MERGED_VERSION)) ||
           merge_encode_put_head(encoding, step) || put_moments(encoding) ||
           fields_put_list(root, "missing", encoding->present - encoding->recorded, put_missing,
                           encoding) ||
           fields_put_list(root, "incomplete", encoding->recorded, put_incomplete, encoding) ||
           fields_put_domains(root, "domains", merge_encode_put_domain, merge) ||
           merge_encode_put_total(encoding, &total) ||
           fields_put_list(root, "components", merge->component_count, merge_encode_put_component,
                           merge) ||
           merge_encode_put_events(encoding) ||
           merge_encode_notes(root, &merge->notes, encoding->recorded) ||
           merge_encode_put_timelines(encoding) ||
           (encoding->recorded > 0 && merge_encode_put_trust(encoding, &total)) ||
           fields_put_list(root, "per_node", encoding->recorded, merge_encode_put_node,
                           encoding->nodes) ||
           (merge->crossings.count > 0 &&
            fields_put_list(root, "crossings", merge->crossings.count, merge_encode_put_crossing,
                            &merge->crossings)) ||
           share_sum_encode(root, &merge->share) || merge_encode_put_regions(encoding);
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
        text = fields_text(encoding.root, merge_encode_put_merged(&encoding, step));
        free(encoding.nodes);
    }
    if (!text) {
        return apapi_fail(err, ENOMEM, "merged record: out of memory");
    }
    *line = text;
    return 0;
}
