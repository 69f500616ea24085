/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/merge.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/hostlist.h"
#include "record/fields.h"
#include "record/record.h"

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

void merge_common_add(struct apapi_merge *merge, const struct apapi_record *record)
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

/* --- a node ----------------------------------------------------------------------------------- */

/* --- the step --------------------------------------------------------------------------------- */

#define ROOM_FIRST 16
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
    for (size_t i = 0; i < merge->nodes.room; i++) {
        if (merge->nodes.slots[i]) {
            free(merge->nodes.slots[i]->domains);
        }
        free(merge->nodes.slots[i]);
    }
    free(merge->nodes.slots);
    merge_events_clear(&merge->events);
    merge_notes_clear(&merge->notes);
    merge_crossings_clear(&merge->crossings);
    region_sums_free(&merge->regions);
    busy_clear(&merge->busy[false]);
    busy_clear(&merge->busy[true]);
    apapi_record_clear(&merge->only);
    free(merge);
    errno = saved_errno;
}

static bool is_same_name(const char *a, const char *b)
{
    return strncmp(a, b, APAPI_TEXT_SIZE - 1) == 0; /* longer names are cut in a record */
}

/* The slot of the node, or a free one for it. There is always a free slot. */
static struct merge_node **merge_find_slot(const struct merge_nodes *nodes, const char *name)
{
    size_t index = merge_hash(name) & (nodes->room - 1);

    while (nodes->slots[index] && !is_same_name(nodes->slots[index]->name, name)) {
        index = (index + 1) & (nodes->room - 1);
    }
    return &nodes->slots[index];
}

static const struct merge_node *merge_find(const struct apapi_merge *merge, const char *name)
{
    return merge->nodes.room ? *merge_find_slot(&merge->nodes, name) : NULL;
}

static size_t count_all(const struct merge_nodes *nodes)
{
    return nodes->count[MERGE_RECORDED] + nodes->count[MERGE_ABSENT] + nodes->count[MERGE_AWAITED];
}

static int merge_reserve(struct merge_nodes *nodes)
{
    struct merge_nodes grown = *nodes;

    if (nodes->room > 2 * (count_all(nodes) + 1)) {
        return 0;
    }
    grown.room = nodes->room ? nodes->room * 2 : ROOM_FIRST;
    grown.slots = calloc(grown.room, sizeof(struct merge_node *));
    if (!grown.slots) {
        return -1;
    }
    for (size_t i = 0; i < nodes->room; i++) {
        if (nodes->slots[i]) {
            *merge_find_slot(&grown, nodes->slots[i]->name) = nodes->slots[i];
        }
    }
    free(nodes->slots);
    *nodes = grown;
    return 0;
}

static struct merge_node *node_create(const char *name, enum merge_state state)
{
    size_t length = strnlen(name, APAPI_TEXT_SIZE - 1);
    struct merge_node *node = malloc(sizeof(*node) + length + 1);

    if (node) {
        *node = (struct merge_node){
            .state = state, .index = APAPI_UNKNOWN, .total_j = NAN, .covered = NAN};
        memcpy(node->name, name, length);
        node->name[length] = '\0';
    }
    return node;
}

/* Add a node. @return NULL with errno ENOMEM. */
static struct merge_node **make_slot(struct merge_nodes *nodes, const char *name)
{
    return merge_reserve(nodes) < 0 ? NULL : merge_find_slot(nodes, name);
}

/* Enter the node called `name`, which must be awaited or new. NULL with EEXIST, ENOMEM. */
static struct merge_node *merge_enter(struct apapi_merge *merge, const char *name,
                                      enum merge_state state)
{
    struct merge_nodes *nodes = &merge->nodes;
    struct merge_node **slot = nodes->room ? merge_find_slot(nodes, name) : NULL;

    if (slot && *slot) {
        if ((*slot)->state != MERGE_AWAITED) {
            errno = EEXIST;
            return NULL;
        }
        (*slot)->state = state;
        nodes->count[MERGE_AWAITED]--;
    } else {
        slot = make_slot(nodes, name);
        if (!slot || !(*slot = node_create(name, state))) {
            return NULL;
        }
    }
    nodes->count[state]++;
    return *slot;
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
    for (size_t i = 0; i < merge->nodes.room; i++) {
        const struct merge_node *node = merge->nodes.slots[i];

        if (node && node->state == MERGE_AWAITED &&
            apapi_merge_absent(merge, node->name, reason) < 0) {
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
    for (size_t i = 0; i < merge->nodes.room; i++) {
        if (merge->nodes.slots[i] && merge->nodes.slots[i]->state != MERGE_AWAITED) {
            ordered[count++] = merge->nodes.slots[i];
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
