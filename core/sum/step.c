/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a step, added up as they arrive. */
#include "sum/merge.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/hostlist.h"
#include "record/fields.h"
#include "record/record.h"
#include "sum/members.h"

/* By state, index and name. */
static int merge_node_order(const struct merge_node *left, const struct merge_node *right)
{
    if (left->state != right->state) {
        return left->state < right->state ? -1 : 1;
    }
    if (left->index != right->index) {
        return left->index < right->index ? -1 : 1;
    }
    return strverscmp(left->name, right->name);
}

/* --- events ----------------------------------------------------------------------------------- */

#define ROWS_MAX 256 /* events, or thresholds: a report shows a few of them */

/* NULL with errno ENOMEM, or ENOSPC: too many. */
static struct merge_event *merge_events_find(struct merge_events *events,
                                             const struct apapi_event *event)
{
    char key[APAPI_NAME_SIZE + 1];
    uint32_t number;

    key[0] = event->estimated ? 'e' : ' ';
    memcpy(key + 1, event->name, sizeof event->name);
    number =
        events->count < ROWS_MAX ? pool_put(&events->keys, key) : pool_find(&events->keys, key);
    if (number == POOL_NONE && events->count == ROWS_MAX) {
        events->full = true;
        errno = ENOSPC;
        return NULL;
    }
    if (number == POOL_NONE ||
        array_add(&events->rows, events->count, &events->capacity, sizeof(*events->rows))) {
        errno = ENOMEM;
        return NULL;
    }
    if (number == events->count) {
        events->rows[events->count++] = (struct merge_event){*event, 0, NAN, 0, 0, NAN, NAN};
    }
    return &events->rows[number];
}

static int merge_events_add_event(struct merge_events *events,
                                  const struct apapi_event_result *result)
{
    struct merge_event *row = merge_events_find(events, &result->event);

    if (!row) {
        return errno == ENOSPC ? 0 : -1;
    }
    row->nodes++;
    row->total = known_plus(row->total, result->total);
    if (!isnan(result->summary.mean)) {
        double covered_s = (double)result->covered_ns / 1e9;

        row->weighted += result->summary.mean * covered_s;
        row->covered_s += covered_s;
    }
    row->min = fmin(row->min, result->summary.min);
    row->max = fmax(row->max, result->summary.max);
    return 0;
}

static int merge_events_add(struct merge_events *events, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            const struct apapi_event_result *result = &m->components[i].events[k];

            if (!result->stuck && merge_events_add_event(events, result) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

/* --- thresholds that were crossed ------------------------------------------------------------- */

/* @return the row of a threshold, a new one if need be; NULL: too many, or ENOMEM (`no_memory`). */
static struct merge_crossing *merge_crossings_row(struct merge_crossings *crossings,
                                                  const struct apapi_crossing *wanted,
                                                  bool *no_memory)
{
    for (size_t i = 0; i < crossings->count; i++) {
        if (strcmp(crossings->rows[i].first.threshold, wanted->threshold) == 0) {
            return &crossings->rows[i];
        }
    }
    if (crossings->count == ROWS_MAX) {
        return NULL;
    }
    if (array_add(&crossings->rows, crossings->count, &crossings->capacity,
                  sizeof *crossings->rows)) {
        *no_memory = true;
        return NULL;
    }
    crossings->rows[crossings->count] = (struct merge_crossing){.last_unix_ns = INT64_MIN};
    return &crossings->rows[crossings->count++];
}

/* @param index  of the last crossing of its threshold in the record */
static void merge_crossings_note(struct merge_crossing *row, const struct apapi_record *record,
                                 size_t index, const struct merge_node *node)
{
    const struct apapi_crossing *last = &record->crossing[index];
    const struct apapi_crossing *first = &record->crossing[crossing_first(record, index)];
    uint64_t count = row->first.count + last->count;

    if (row->nodes == 0 || first->unix_ns < row->first.unix_ns) {
        row->first = *first;
        row->first_node = node;
    }
    row->first.count = count;
    row->last_unix_ns = last->unix_ns > row->last_unix_ns ? last->unix_ns : row->last_unix_ns;
    row->nodes++;
}

static int merge_crossings_add(struct merge_crossings *crossings, const struct apapi_record *record,
                               const struct merge_node *node)
{
    bool no_memory = false;

    for (size_t i = 0; i < record->crossing_count && !no_memory; i++) {
        struct merge_crossing *row =
            crossing_is_last(record, i)
                ? merge_crossings_row(crossings, &record->crossing[i], &no_memory)
                : NULL;

        if (row) {
            merge_crossings_note(row, record, i, node);
        }
    }
    return no_memory ? -1 : 0;
}

/* --- problems --------------------------------------------------------------------------------- */

#define NOTES_MAX 256    /* a report shows ten of each kind */
#define NAMES_MAX 100000 /* of nodes, in all notes together; more are only counted */

static bool is_same_note(const struct merge_note *a, const struct merge_note *b)
{
    return a->kind == b->kind && strcmp(a->verdict, b->verdict) == 0 &&
           strcmp(a->subject, b->subject) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* Copy subject and reason into one block. NULL with ENOMEM. */
static char *merge_notes_copy_texts(const struct merge_note *note)
{
    size_t subject_size = strlen(note->subject) + 1, reason_size = strlen(note->reason) + 1;
    char *texts = malloc(subject_size + reason_size);

    if (texts) {
        memcpy(texts, note->subject, subject_size);
        memcpy(texts + subject_size, note->reason, reason_size);
    }
    return texts;
}

static struct merge_note *merge_notes_append(struct merge_notes *notes,
                                             const struct merge_note *note)
{
    struct merge_note *added;
    char *texts =
        array_add(&notes->notes, notes->count, &notes->capacity, sizeof(*notes->notes)) < 0
            ? NULL
            : merge_notes_copy_texts(note);

    if (!texts) {
        errno = ENOMEM;
        return NULL;
    }
    added = &notes->notes[notes->count++];
    *added = *note;
    added->texts = texts;
    added->subject = texts;
    added->reason = texts + strlen(texts) + 1;
    added->outages = 0;
    added->outage_ns = 0;
    return added;
}

/* NULL with errno ENOMEM, or ENOSPC: too many. */
static struct merge_note *merge_notes_find(struct merge_notes *notes,
                                           const struct merge_note *wanted)
{
    for (size_t i = 0; i < notes->count; i++) {
        size_t index = (notes->last + i) % notes->count;

        if (is_same_note(&notes->notes[index], wanted)) {
            notes->last = index;
            return &notes->notes[index];
        }
    }
    if (notes->count == NOTES_MAX) {
        notes->full = true;
        errno = ENOSPC;
        return NULL;
    }
    return merge_notes_append(notes, wanted);
}

static int merge_notes_add_name(struct merge_notes *notes, struct merge_note *note,
                                const char *name)
{
    if (notes->named == NAMES_MAX) {
        return 0;
    }
    if (array_add(&note->names, note->named, &note->room, sizeof(char *))) {
        return -1;
    }
    note->names[note->named++] = name;
    notes->named++;
    return 0;
}

static int note_node(struct merge_notes *notes, const struct merge_note *wanted,
                     struct merge_node *node)
{
    struct merge_note *note = merge_notes_find(notes, wanted);

    if (!note) {
        return errno == ENOSPC ? 0 : -1;
    }
    if (note->kind == MERGE_NOTE_ABSENT || note->kind == MERGE_NOTE_INCOMPLETE) {
        node->reason = note->reason;
    }
    note->nodes++;
    note->outages += wanted->outages;
    note->outage_ns += wanted->outage_ns;
    if (!note->first || merge_node_order(node, note->first) < 0) {
        note->first = node;
        note->index = wanted->index;
    }
    return merge_notes_add_name(notes, note, node->name);
}

static const char *verdict_on(const struct apapi_component_result *component)
{
    if (!component->measured) {
        return "not measured";
    }
    return component->outages ? "no readings" : "measured in part";
}

static int note_component(struct merge_notes *notes, const struct apapi_component_result *component,
                          size_t index, struct merge_node *node)
{
    const struct merge_note note = {.kind = MERGE_NOTE_COMPONENT,
                                    .subject = component->name,
                                    .verdict = verdict_on(component),
                                    .reason = component->reason,
                                    .outages = component->measured ? component->outages : 0,
                                    .outage_ns = component->outage_ns,
                                    .index = index};

    return component->measured && !component->outages && !component->reason[0]
               ? 0
               : note_node(notes, &note, node);
}

static int note_stuck(struct merge_notes *notes, const struct apapi_component_result *component,
                      size_t index, struct merge_node *node)
{
    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_event_result *result = &component->events[i];
        const struct merge_note note = {
            .kind = MERGE_NOTE_STUCK,
            .subject = result->event.name,
            .verdict = result->stuck ? "counter never moved, not counted"
                                     : "counter did not move, not counted",
            .reason = result->stuck ? "" : "too short a time to tell whether it is stuck",
            .index = index + i};

        if ((result->stuck || result->still) && note_node(notes, &note, node) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Notes about the record itself: it is valid, but later reports may lack it. */
static int note_record(struct merge_notes *notes, const struct apapi_record *record,
                       struct merge_node *node)
{
    const struct merge_note incomplete = {.kind = MERGE_NOTE_INCOMPLETE,
                                          .subject = "",
                                          .verdict = "incomplete",
                                          .reason = record->reason};
    const struct merge_note unwritten = {.kind = MERGE_NOTE_UNWRITTEN,
                                         .subject = "",
                                         .verdict = "not in the accounting files",
                                         .reason = record->unwritten};

    if (!record->complete && note_node(notes, &incomplete, node) < 0) {
        return -1;
    }
    return *record->unwritten ? note_node(notes, &unwritten, node) : 0;
}

/* One note for each threshold. */
static int note_crossings(struct merge_notes *notes, const struct apapi_record *record,
                          struct merge_node *node)
{
    for (size_t i = 0; i < record->crossing_count; i++) {
        char text[CROSSING_TEXT_SIZE];
        const struct merge_note note = {.kind = MERGE_NOTE_CROSSING,
                                        .subject = record->crossing[i].threshold,
                                        .verdict = "crossed",
                                        .reason = text,
                                        .index = i};

        if (crossing_is_last(record, i)) {
            crossing_text(record, i, text, sizeof text);
            if (note_node(notes, &note, node) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int merge_notes_add(struct merge_notes *notes, const struct apapi_record *record,
                           struct merge_node *node)
{
    const struct apapi_measurement *m = &record->measurement;
    size_t events = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        if (note_component(notes, &m->components[i], i, node) < 0 ||
            note_stuck(notes, &m->components[i], events, node) < 0) {
            return -1;
        }
        events += m->components[i].event_count;
    }
    return note_record(notes, record, node) < 0 ? -1 : note_crossings(notes, record, node);
}

static int merge_notes_absent(struct merge_notes *notes, struct merge_node *node,
                              const char *reason)
{
    const struct merge_note note = {
        .kind = MERGE_NOTE_ABSENT, .subject = "", .verdict = "no record", .reason = reason};

    return note_node(notes, &note, node);
}

static int by_kind_and_node(const void *left, const void *right)
{
    const struct merge_note *a = *(const struct merge_note *const *)left;
    const struct merge_note *b = *(const struct merge_note *const *)right;
    int order = a->kind < b->kind ? -1 : a->kind > b->kind;

    if (order == 0) {
        order = merge_node_order(a->first, b->first);
    }
    return order ? order : (a->index < b->index ? -1 : a->index > b->index);
}

const struct merge_note **merge_notes_sorted(const struct merge_notes *notes)
{
    const struct merge_note **sorted = calloc(notes->count + 1, sizeof(struct merge_note *));

    if (!sorted) {
        return NULL;
    }
    for (size_t i = 0; i < notes->count; i++) {
        sorted[i] = &notes->notes[i];
    }
    qsort(sorted, notes->count, sizeof(struct merge_note *), by_kind_and_node);
    return sorted;
}

/* --- what all records have in common ---------------------------------------------------------- */

_Static_assert(offsetof(struct apapi_record, id) == 0, "fields_of_record begins with the identity");

static void keep_same(const struct field *field, char *common, const char *other)
{
    switch (field->form) {
    case FIELD_TEXT:
        if (strcmp(common, other) != 0) {
            *common = '\0';
        }
        break;
    case FIELD_NUMBER:
        if (memcmp(common, other, sizeof(uint32_t)) != 0) {
            *(uint32_t *)(void *)common = APAPI_UNKNOWN;
        }
        break;
    default:
        *(bool *)common &= *(const bool *)other;
        break;
    }
}

static void add_identity(struct apapi_identity *common, const struct apapi_identity *other)
{
    const uint32_t tasks = known_sum(common->tasks, other->tasks);
    const uint32_t cores = known_sum(common->cores, other->cores);
    const uint32_t node_cores = known_sum(common->node_cores, other->node_cores);
    const uint32_t gpus = known_sum(common->gpus, other->gpus);

    for (const struct field *field = fields_of_record; field->key; field++) {
        if (field->offset < sizeof(struct apapi_identity)) {
            keep_same(field, (char *)common + field->offset, (const char *)other + field->offset);
        }
    }
    common->tasks = tasks;
    common->cores = cores;
    common->node_cores = node_cores;
    common->gpus = gpus;
}

static void merge_common_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    bool first = merge->nodes.count[MERGE_RECORDED] == 1;
    int64_t end_ns = record_end_ns(m);

    if (first) {
        merge->id = record->id;
        merge->ending = record->ending;
    } else {
        add_identity(&merge->id, &record->id);
        merge->ending = ending_of_both(&merge->ending, &record->ending);
    }
    if (first || m->start_unix_ns < merge->start_unix_ns) {
        merge->start_unix_ns = m->start_unix_ns;
    }
    if (first || end_ns > merge->end_unix_ns) {
        merge->end_unix_ns = end_ns;
    }
}

/* --- the step --------------------------------------------------------------------------------- */

#define SPAN_NONE ((struct merge_span){NAN, NAN})

struct apapi_merge *apapi_merge_create(void)
{
    struct apapi_merge *merge = calloc(1, sizeof(*merge));

    if (merge) {
        merge->covered_pct = SPAN_NONE;
        merge->samples = SPAN_NONE;
    }
    return merge;
}

void apapi_merge_destroy(struct apapi_merge *merge)
{
    int saved_errno = errno;

    if (!merge) {
        return;
    }
    for (size_t i = 0; i < merge->nodes.names.count; i++) {
        free(merge->nodes.list[i]->domains);
        free(merge->nodes.list[i]);
    }
    for (size_t i = 0; i < merge->notes.count; i++) {
        free(merge->notes.notes[i].texts);
        free(merge->notes.notes[i].names);
    }
    pool_free(&merge->nodes.names);
    pool_free(&merge->events.keys);
    free(merge->nodes.list);
    free(merge->events.rows);
    free(merge->notes.notes);
    free(merge->crossings.rows);
    region_sums_free(&merge->regions);
    busy_clear(&merge->busy[false]);
    busy_clear(&merge->busy[true]);
    apapi_record_clear(&merge->only);
    free(merge);
    errno = saved_errno;
}

/* Longer names are cut in a record. */
static void cut_name(char cut[APAPI_TEXT_SIZE], const char *name)
{
    snprintf(cut, APAPI_TEXT_SIZE, "%s", name);
}

static const struct merge_node *merge_find(const struct apapi_merge *merge, const char *name)
{
    char cut[APAPI_TEXT_SIZE];
    uint32_t number;

    cut_name(cut, name);
    number = pool_find(&merge->nodes.names, cut);
    return number == POOL_NONE ? NULL : merge->nodes.list[number];
}

static size_t count_all(const struct merge_nodes *nodes)
{
    return nodes->count[MERGE_RECORDED] + nodes->count[MERGE_ABSENT] + nodes->count[MERGE_AWAITED];
}

/* NULL with errno ENOMEM. */
static struct merge_node *node_create(struct merge_nodes *nodes, const char *name)
{
    size_t size = strlen(name) + 1;
    struct merge_node *node =
        array_add(&nodes->list, nodes->names.count, &nodes->room, sizeof(struct merge_node *))
            ? NULL
            : malloc(sizeof *node + size);
    uint32_t number = node ? pool_put(&nodes->names, name) : POOL_NONE;

    if (number == POOL_NONE) {
        free(node);
        errno = ENOMEM;
        return NULL;
    }
    *node = (struct merge_node){
        .index = APAPI_UNKNOWN, .total_j = NAN, .uncertainty_j = NAN, .covered = NAN};
    memcpy(node->name, name, size);
    nodes->list[number] = node;
    return node;
}

/* Enter the node called `name`, which must be awaited or new. NULL with EEXIST, ENOMEM. */
static struct merge_node *merge_enter(struct apapi_merge *merge, const char *name,
                                      enum merge_state state)
{
    struct merge_nodes *nodes = &merge->nodes;
    char cut[APAPI_TEXT_SIZE];
    struct merge_node *node;
    uint32_t number;

    cut_name(cut, name);
    number = pool_find(&nodes->names, cut);
    node = number == POOL_NONE ? NULL : nodes->list[number];
    if (node && node->state != MERGE_AWAITED) {
        errno = EEXIST;
        return NULL;
    }
    nodes->count[MERGE_AWAITED] -= node != NULL;
    node = node ? node : node_create(nodes, cut);
    if (node) {
        node->state = state;
        nodes->count[state]++;
    }
    return node;
}

static void widen(struct merge_span *span, double value)
{
    span->least = fmin(span->least, value);
    span->most = fmax(span->most, value);
}

static void add_incidents(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    const struct apapi_incidents one = apapi_measurement_incidents(m);

    merge->incidents.failed += one.failed;
    merge->incidents.wraps += one.wraps;
    merge->incidents.resets += one.resets;
    merge->incidents.refused += one.refused;
    merge->incidents.gaps += one.gaps;
    merge->incidents.stalls += one.stalls;
    merge->incidents.rough += one.rough;
    for (size_t i = 0; i < m->component_count; i++) {
        merge->missed += m->components[i].missed;
    }
    merge->cpu_ns += m->cpu_ns;
    if (m->component_count > 0 && !isnan(m->covered)) {
        widen(&merge->covered_pct, m->covered * 100);
        widen(&merge->samples, (double)one.samples);
    }
}

/* NULL: too many. */
static struct merge_component *merge_find_component(struct apapi_merge *merge,
                                                    const struct apapi_component_result *component)
{
    struct merge_component *known = merge->components;
    const struct merge_component *end = known + merge->component_count;

    while (known < end && (strcmp(known->name, component->name) != 0 ||
                           strcmp(known->source, component->source) != 0)) {
        known++;
    }
    if (known < end) {
        return known;
    }
    if (merge->component_count == MERGE_COMPONENTS_MAX) {
        return NULL;
    }
    memcpy(known->name, component->name, sizeof(known->name));
    memcpy(known->source, component->source, sizeof(known->source));
    merge->component_count++;
    return known;
}

static void merge_add_components(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        struct merge_component *known =
            m->components[i].measured ? merge_find_component(merge, &m->components[i]) : NULL;

        if (known) {
            known->nodes++;
        }
    }
    merge->window_ns = window_shorter_ns(merge->window_ns, window_shortest_ns(m));
}

static int add_measurement(struct apapi_merge *merge, const struct apapi_measurement *m,
                           const struct merge_node *node)
{
    if (m->elapsed_ns > merge->elapsed_ns) {
        merge->elapsed_ns = m->elapsed_ns;
    }
    if (!merge->latest || m->late_ns > merge->late_ns) {
        merge->latest = node;
        merge->late_ns = m->late_ns;
    }
    merge_add_components(merge, m);
    add_incidents(merge, m);
    return merge_sums_add(merge, m);
}

/* Keep the complete record of the only one. Of several, keep what they have in common. */
static int keep_only(struct apapi_merge *merge, const struct apapi_record *record)
{
    if (merge->nodes.count[MERGE_RECORDED] == 1) {
        return record_copy(&merge->only, record);
    }
    apapi_record_clear(&merge->only);
    return 0;
}

/* 0; -1 with ENOMEM. */
static int node_keep_domains(struct merge_node *node, const struct apapi_measurement *m)
{
    struct merge_node_domain known[APAPI_DOMAINS];
    size_t count = 0;

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        if (m->domains[d].measured && !isnan(m->domains[d].energy_j)) {
            known[count++] = (struct merge_node_domain){(float)m->domains[d].uncertainty_j,
                                                        (float)m->domains[d].covered, (uint8_t)d,
                                                        m->domains[d].energy_j};
        }
    }
    if (count == 0) {
        return 0;
    }
    node->domains = malloc(count * sizeof *known);
    if (!node->domains) {
        return -1;
    }
    memcpy(node->domains, known, count * sizeof *known);
    node->domain_count = (uint8_t)count;
    return 0;
}

int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    struct merge_node *node = merge_enter(merge, record->id.node, MERGE_RECORDED);

    if (!node) {
        return -1;
    }
    node->index = record->id.node_index;
    node->total_j = apapi_measurement_total_j(&record->measurement);
    node->uncertainty_j = apapi_record_uncertainty_j(&record->measurement);
    node->covered = record->measurement.component_count > 0 ? record->measurement.covered : NAN;
    node->incomplete = !record->complete;
    node->unknown_domains = record->measurement.unknown_domains;
    if (record->id.nodes != APAPI_UNKNOWN && record->id.nodes > merge->expected) {
        merge->expected = record->id.nodes;
    }
    merge_common_add(merge, record);
    share_sum_add(&merge->share, &record->share);
    if (node_keep_domains(node, &record->measurement) < 0 ||
        add_measurement(merge, &record->measurement, node) < 0 || keep_only(merge, record) < 0 ||
        merge_events_add(&merge->events, &record->measurement) < 0 ||
        region_sums_add(&merge->regions, record) < 0 ||
        merge_crossings_add(&merge->crossings, record, node) < 0 ||
        merge_notes_add(&merge->notes, record, node) < 0) {
        merge->no_memory = true;
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int apapi_merge_absent(struct apapi_merge *merge, const char *name, const char *reason)
{
    struct merge_node *node = merge_enter(merge, name, MERGE_ABSENT);
    char text[APAPI_TEXT_SIZE];

    if (!node) {
        return -1;
    }
    snprintf(text, sizeof(text), "%s", reason ? reason : "");
    if (*text && merge_notes_absent(&merge->notes, node, text) < 0) {
        merge->no_memory = true;
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

static int expect_one(void *context, const char *name)
{
    struct apapi_merge *merge = context;

    return merge_find(merge, name) || merge_enter(merge, name, MERGE_AWAITED) ? 0 : -1;
}

int apapi_merge_expect(struct apapi_merge *merge, const char *nodelist)
{
    return hostlist_each(nodelist, expect_one, merge) < 0 ? -1 : 0;
}

int apapi_merge_give_up(struct apapi_merge *merge, const char *reason)
{
    for (size_t i = 0; i < merge->nodes.names.count; i++) {
        const struct merge_node *node = merge->nodes.list[i];

        if (node->state == MERGE_AWAITED && apapi_merge_absent(merge, node->name, reason) < 0) {
            return -1;
        }
    }
    return 0;
}

bool apapi_merge_has(const struct apapi_merge *merge, const char *node)
{
    const struct merge_node *found = merge_find(merge, node);

    return found && found->state != MERGE_AWAITED;
}

bool apapi_merge_awaits(const struct apapi_merge *merge, const char *node)
{
    const struct merge_node *found = merge_find(merge, node);

    return found && found->state == MERGE_AWAITED;
}

size_t apapi_merge_count(const struct apapi_merge *merge)
{
    return count_all(&merge->nodes) - merge->nodes.count[MERGE_AWAITED];
}

size_t apapi_merge_awaited(const struct apapi_merge *merge)
{
    return merge->nodes.count[MERGE_AWAITED];
}

size_t merge_expected(const struct apapi_merge *merge)
{
    size_t count = count_all(&merge->nodes);

    return merge->expected > count ? merge->expected : count;
}

static int by_order(const void *left, const void *right)
{
    return merge_node_order(*(const struct merge_node *const *)left,
                            *(const struct merge_node *const *)right);
}

ssize_t merge_nodes(const struct apapi_merge *merge, const struct merge_node ***nodes)
{
    const struct merge_node **ordered =
        calloc(apapi_merge_count(merge) + 1, sizeof(struct merge_node *));
    size_t count = 0;

    if (!ordered) {
        return -1;
    }
    for (size_t i = 0; i < merge->nodes.names.count; i++) {
        if (merge->nodes.list[i]->state != MERGE_AWAITED) {
            ordered[count++] = merge->nodes.list[i];
        }
    }
    qsort(ordered, count, sizeof(struct merge_node *), by_order);
    *nodes = ordered;
    return (ssize_t)merge->nodes.count[MERGE_RECORDED];
}

void apapi_merge_absentees(const struct apapi_merge *merge, apapi_absent_f visit, void *context)
{
    for (size_t i = 0; i < merge->notes.count; i++) {
        const struct merge_note *note = &merge->notes.notes[i];

        for (size_t k = 0; note->kind == MERGE_NOTE_ABSENT && k < note->named; k++) {
            visit(note->names[k], note->reason, context);
        }
    }
}
