/* SPDX-License-Identifier: BSD-3-Clause */
/* A step on all its nodes as one JSON object, see docs/merged.schema.json. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "record/fields.h"
#include "record/members.h"
#include "record/record.h"
#include "render/table.h"
#include "sum/merge.h"

#define MERGED_VERSION 1
static const struct field fields_of_row[] = {
    FIELD_TEXT_OF(merge_event, "name", true, event.name),
    FIELD_OF(merge_event, "kind", KIND, false, event.kind),
    FIELD_OF(merge_event, "domain", DOMAIN, false, event.domain),
    FIELD_TEXT_OF(merge_event, "unit", true, event.unit),
    FIELD_OF(merge_event, "counter", FLAG, false, event.accumulates),
    FIELD_OF(merge_event, "estimated", FLAG, false, event.estimated),
    FIELD_OF(merge_event, "total", MEASURED, false, total),
    FIELD_OF(merge_event, "min", ROUGH, false, min),
    FIELD_OF(merge_event, "max", ROUGH, false, max),
    FIELD_END};

static const struct field fields_of_source[] = {
    FIELD_TEXT_OF(merge_component, "name", true, first.name),
    FIELD_TEXT_OF(merge_component, "source", true, first.source), FIELD_END};

/* --- the members that a record has, too ------------------------------------------------------- */

static bool is_incomplete(const struct apapi_merge *merge, const struct merge_node *node)
{
    return merge->store.pieces[node->piece].reason != POOL_NONE;
}

/* Write the fields of the head. Without any record, `times` is false: there are no times. */
static void put_head_fields(struct json_writer *json, const struct apapi_record *head, bool times)
{
    static const char *const left_out[] = {"node", "start", "elapsed_s", "late_s"};
    struct field fields[FIELDS_MAX];
    size_t count = 0;

    for (const struct field *field = fields_of_record; field->key; field++) {
        bool wanted = true;

        for (size_t i = 0; i < (times ? 1 : COUNT_OF(left_out)); i++) {
            wanted = wanted && strcmp(field->key, left_out[i]) != 0;
        }
        fields[count] = *field;
        count += wanted;
    }
    fields[count] = (struct field){0};
    fields_write(json, fields, head);
}

static void put_head(struct json_writer *json, const struct apapi_merge *merge,
                     const struct merge_result *sum, const char *step)
{
    bool any = sum->recorded > 0;
    struct apapi_record head = {.id = any ? merge->id : APAPI_IDENTITY_UNKNOWN,
                                .ending = any ? merge->ending : APAPI_ENDING_UNKNOWN,
                                .complete = sum->recorded == sum->expected,
                                .measurement = {.start_unix_ns = merge->start_unix_ns,
                                                .elapsed_ns = merge->elapsed_ns,
                                                .late_ns = merge->late_ns}};
    char *end;

    for (size_t i = 0; i < sum->recorded; i++) {
        head.complete = head.complete && !is_incomplete(merge, sum->nodes[i]);
    }
    if (!any && step && *step >= '0' && *step <= '9') { /* only the ID "17.0" is known then */
        unsigned long job = strtoul(step, &end, 10);

        if (*end == '.' && job > 0 && job < APAPI_UNKNOWN) {
            head.id.job = (uint32_t)job;
            snprintf(head.id.step, sizeof head.id.step, "%s", end + 1);
        }
    }
    head.id.node_index = APAPI_UNKNOWN;
    head.id.nodes = (uint32_t)sum->expected;
    json_put_integer(json, "merged", MERGED_VERSION);
    put_head_fields(json, &head, any);
    json_put_count(json, "recorded", sum->recorded);
    if (any) {
        json_put_moment(json, "end", merge->end_unix_ns);
    }
    if (any && merge->late_ns > 0) {
        json_put_text(json, "late_node", merge->latest->name);
    }
}

static void put_reason(struct json_writer *json, const struct apapi_merge *merge,
                       const struct merge_node *node)
{
    json_begin_object(json, NULL);
    json_put_text(json, "node", node->name);
    if (node->note != POOL_NONE) {
        json_put_word(json, "reason",
                      pool_text(&merge->store.texts, merge->notes[node->note].reason_text));
    }
    json_end(json);
}

static void put_reasons(struct json_writer *json, const struct apapi_merge *merge,
                        const struct merge_result *sum)
{
    json_begin_array(json, "missing");
    for (size_t i = sum->recorded; i < sum->present; i++) {
        put_reason(json, merge, sum->nodes[i]);
    }
    json_end(json);
    json_begin_array(json, "incomplete");
    for (size_t i = 0; i < sum->recorded; i++) {
        if (is_incomplete(merge, sum->nodes[i])) {
            put_reason(json, merge, sum->nodes[i]);
        }
    }
    json_end(json);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Write a sum into the object that is open. */
static void put_sum(struct json_writer *json, const struct merge_domain *sum, double uncertainty_j)
{
    const struct apapi_domain_result domain = {.measured = true,
                                               .energy_j = sum->energy_j,
                                               .uncertainty_j = uncertainty_j,
                                               .covered = sum->covered,
                                               .rest_j = sum->rest_j,
                                               .power_w = sum->power_w};

    fields_write(json, fields_of_domain, &domain);
    json_put_count(json, "nodes", sum->nodes);
    if (sum->bin_ns > 0) {
        json_put_number(json, "bin_s", (double)sum->bin_ns / NS_PER_S, JSON_EXACT);
    }
}

/* Write the sums by domain, the total of the domains that add up, and the sources. */
static void put_sums(struct json_writer *json, const struct apapi_merge *merge,
                     const struct merge_result *sum)
{
    json_begin_object(json, "domains");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (sum->domains[d].nodes > 0) {
            json_begin_object(json, apapi_domain_name(d));
            put_sum(json, &sum->domains[d], sum->domains[d].uncertainty_j);
            json_end(json);
        }
    }
    json_end(json);
    if (sum->total.nodes > 0) {
        json_begin_object(json, "total");
        put_sum(json, &sum->total, NAN); /* NaN: it is in the trust block */
        if (sum->missing) {
            json_put_flag(json, "partial", true);
            domain_list_write(json, "missing_domains", sum->missing);
        }
        json_end(json);
    }
    json_begin_array(json, "components");
    for (size_t i = 0; i < merge->component_rows.keys.count; i++) {
        json_begin_object(json, NULL);
        fields_write(json, fields_of_source, &merge->components[i]);
        json_put_count(json, "nodes", merge->components[i].nodes);
        json_end(json);
    }
    json_end(json);
}

static void put_events(struct json_writer *json, const struct apapi_merge *merge)
{
    json_begin_array(json, "events");
    for (size_t i = 0; i < merge->event_rows.keys.count; i++) {
        const struct merge_event *row = &merge->events[i];

        json_begin_object(json, NULL);
        fields_write(json, fields_of_row, row);
        json_put_count(json, "nodes", row->nodes);
        json_put_number(json, "mean", row->covered_s > 0 ? row->weighted / row->covered_s : NAN,
                        JSON_MEASURED);
        json_end(json);
    }
    json_end(json);
    if (merge->event_rows.full) {
        json_put_flag(json, "more_events", true);
    }
}

/* Sums over all nodes only: a sum over some nodes would look as if the others drew nothing. */
static void put_timelines(struct json_writer *json, const struct apapi_merge *merge)
{
    json_begin_object(json, "timeline");
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct merge_domain_sum *sum = &merge->domains[d];

        if (sum->timelines > 0 && sum->timelines == sum->nodes) {
            json_begin_object(json, apapi_domain_name(d));
            timeline_write(json, &sum->timeline.timeline);
            json_put_moment(json, "start", sum->timeline.start_unix_ns);
            json_put_number(json, "bin_s", (double)sum->timeline.timeline.bin_ns / NS_PER_S,
                            JSON_EXACT);
            json_end(json);
        }
    }
    json_end_or_drop(json);
}

/* --- trust ------------------------------------------------------------------------------------ */

/* A note about all nodes with a record needs no names. */
static void put_note(struct json_writer *json, const struct merge_note *note, size_t recorded)
{
    json_begin_object(json, NULL);
    json_put_text(json, note->kind == MERGE_NOTE_STUCK ? "event" : "component", note->subject);
    json_put_text(json, "verdict", note->verdict);
    json_put_word(json, "reason", note->reason);
    if (note->outages > 0) {
        json_put_count(json, "outages", note->outages);
        json_put_number(json, "outage_s", (double)note->outage_ns / NS_PER_S, JSON_EXACT);
    }
    json_put_count(json, "nodes", note->nodes);
    if (note->nodes != recorded) {
        json_begin_array(json, "names");
        for (size_t i = 0; i < note->named; i++) {
            json_put_text(json, NULL, note->names[i]);
        }
        json_end(json);
    }
    json_end(json);
}

/* 0; -1 with ENOMEM */
static int put_notes(struct json_writer *json, const struct apapi_merge *merge)
{
    struct merge_note *sorted = merge_notes_sorted(merge);

    json_begin_array(json, "notes");
    for (size_t i = 0; i < merge->note_rows.keys.count && sorted; i++) {
        if (sorted[i].kind == MERGE_NOTE_COMPONENT || sorted[i].kind == MERGE_NOTE_STUCK) {
            put_note(json, &sorted[i], merge->nodes.count[MERGE_RECORDED]);
        }
    }
    json_end(json);
    if (merge->note_rows.full) {
        json_put_flag(json, "more_notes", true);
    }
    free(sorted);
    return sorted ? 0 : -1;
}

static void put_trust(struct json_writer *json, const struct apapi_merge *merge,
                      double uncertainty_j)
{
    json_begin_object(json, "trust");
    if (!isnan(merge->covered.least)) {
        json_put_number(json, "covered", merge->covered.least, JSON_MEASURED);
        json_put_number(json, "covered_max", merge->covered.most, JSON_MEASURED);
        json_put_count(json, "samples", (uint64_t)merge->samples.least);
        json_put_count(json, "samples_max", (uint64_t)merge->samples.most);
    }
    json_put_number(json, "cpu_s", (double)merge->cpu_ns / NS_PER_S, JSON_EXACT);
    json_put_number(json, "uncertainty_j", uncertainty_j, JSON_ROUGH);
    incidents_write(json, &merge->incidents, merge->missed);
    json_end(json);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void put_nodes(struct json_writer *json, const struct apapi_merge *merge,
                      const struct merge_result *sum)
{
    json_begin_array(json, "per_node");
    for (size_t i = 0; i < sum->recorded; i++) {
        const struct merge_node *node = sum->nodes[i];
        const struct sum_piece *piece = &merge->store.pieces[node->piece];

        json_begin_object(json, NULL);
        json_put_text(json, "node", node->name);
        json_put_number(json, "energy_j", node->total_j, JSON_MEASURED);
        json_put_number(json, "uncertainty_j", node->uncertainty_j, JSON_ROUGH);
        json_put_number(json, "covered", node->covered, JSON_MEASURED);
        json_begin_object(json, "domains");
        for (size_t k = 0; k < piece->domain_count; k++) {
            const struct sum_domain *known = &merge->store.domains[piece->domain_at + k];

            json_begin_object(json, apapi_domain_name(known->domain));
            json_put_number(json, "energy_j", known->energy_j, JSON_MEASURED);
            json_put_number(json, "uncertainty_j", known->uncertainty_j, JSON_ROUGH);
            json_put_number(json, "covered", known->covered > 0 ? (double)known->covered : NAN,
                            JSON_ROUGH);
            json_end(json);
        }
        json_end_or_drop(json);
        domain_list_write(json, "unknown_domains", piece->unknown_domains);
        json_end(json);
    }
    json_end(json);
}

static void put_crossings(struct json_writer *json, const struct apapi_merge *merge)
{
    json_begin_array(json, "crossings");
    for (size_t i = 0; i < merge->crossing_rows.keys.count; i++) {
        const struct merge_crossing *row = &merge->crossings[i];

        json_begin_object(json, NULL);
        json_put_text(json, "threshold", row->first.threshold);
        json_put_count(json, "nodes", row->nodes);
        json_put_count(json, "count", row->first.count);
        json_put_moment(json, "first", row->first.unix_ns);
        json_put_text(json, "first_node", row->first_node->name);
        json_put_moment(json, "last", row->last_unix_ns);
        json_put_number(json, "value", row->first.value, JSON_MEASURED);
        json_put_word(json, "unit", row->first.unit);
        json_put_word(json, "action", row->first.action);
        json_end(json);
    }
    json_end_or_drop(json);
}

/* --- all -------------------------------------------------------------------------------------- */

int apapi_merge_encode(const struct apapi_merge *merge, const char *step, char **line,
                       struct apapi_error *err)
{
    struct apapi_regions regions = {0};
    struct merge_result sum;
    struct json_writer json = {0};
    char *text = NULL;
    bool failed = merge_work_out(merge, &sum) < 0;

    json_begin_object(&json, NULL);
    if (!failed) {
        put_head(&json, merge, &sum, step);
        put_reasons(&json, merge, &sum);
        put_sums(&json, merge, &sum);
        put_events(&json, merge);
        failed = put_notes(&json, merge);
        put_timelines(&json, merge);
        if (sum.recorded > 0) {
            put_trust(&json, merge, sum.total.uncertainty_j);
        }
        put_nodes(&json, merge, &sum);
        put_crossings(&json, merge);
        share_write(&json, &merge->share.share, merge->share.nodes ? merge->share.lacking : 0);
        failed |= region_sums_result(&merge->regions, APAPI_REGIONS_MAX, &regions) != 0;
        fields_write(&json, fields_of_regions, &regions);
        apapi_regions_clear(&regions);
        free(sum.nodes);
    }
    json_end(&json);
    text = json_take(&json);
    if (failed || !text) {
        free(text);
        return apapi_fail(err, ENOMEM, "merged record: out of memory");
    }
    *line = text;
    return 0;
}
