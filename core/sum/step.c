/* SPDX-License-Identifier: BSD-3-Clause */
/* A step on all its nodes: the sum of their records, and the other contents of its report. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apapi/record.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/hostlist.h"
#include "record/fields.h"
#include "record/record.h"
#include "sum/merge.h"

/* Order nodes by state, index and name. */
static int merge_node_order(const struct merge_node *left, const struct merge_node *right)
{
    int order = COMPARE(left->state, right->state);

    order = order ? order : COMPARE(left->index, right->index);
    return order ? order : strverscmp(left->name, right->name);
}

/* --- rows ------------------------------------------------------------------------------------- */

#define ROWS_MAX 256 /* rows of one kind; a report shows ten or twenty of them */

/*
 * Find the row of a key, or append a row, which is all zero.
 * @param list  address of the pointer to the rows
 * @return NULL: there are too many, or no memory
 */
static void *merge_row(struct apapi_merge *merge, struct merge_rows *rows, const char *key,
                       void *list, size_t size)
{
    bool full = rows->keys.count == ROWS_MAX;
    uint32_t number = full ? pool_find(&rows->keys, key)
                           : pool_put_row(&rows->keys, key, list, &rows->room, size);
    char *first;

    rows->full |= full && number == POOL_NONE;
    merge->no_memory |= !full && number == POOL_NONE;
    memcpy(&first, list, sizeof first);
    return number == POOL_NONE ? NULL : first + number * size;
}

static void merge_add_component(struct apapi_merge *merge,
                                const struct apapi_component_result *component)
{
    char key[APAPI_COMPONENT_SIZE + sizeof component->source];
    struct merge_component *row;

    snprintf(key, sizeof key, "%s/%s", component->name, component->source);
    row = merge_row(merge, &merge->component_rows, key, &merge->components, sizeof *row);
    if (row && row->nodes++ == 0) {
        row->first = *component;
        row->first.events = NULL;
    }
}

static void merge_add_event(struct apapi_merge *merge, const struct apapi_event_result *result)
{
    char key[APAPI_NAME_SIZE + 1];
    struct merge_event *row;

    key[0] = result->event.estimated ? 'e' : ' ';
    memcpy(key + 1, result->event.name, sizeof result->event.name);
    row = merge_row(merge, &merge->event_rows, key, &merge->events, sizeof *row);
    if (!row) {
        return;
    }
    if (row->nodes == 0) {
        *row = (struct merge_event){result->event, 0, NAN, 0, 0, NAN, NAN};
    }
    row->nodes++;
    row->total = known_plus(row->total, result->total);
    if (!isnan(result->summary.mean)) {
        double covered_s = (double)result->covered_ns / NS_PER_S;

        row->weighted += result->summary.mean * covered_s;
        row->covered_s += covered_s;
    }
    row->min = fmin(row->min, result->summary.min);
    row->max = fmax(row->max, result->summary.max);
}

static void merge_add_meters(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];

        merge->missed += component->missed;
        if (component->measured) {
            merge_add_component(merge, component);
        }
        for (size_t k = 0; k < component->event_count; k++) {
            if (!component->events[k].stuck) {
                merge_add_event(merge, &component->events[k]);
            }
        }
    }
}

/* --- thresholds that were crossed ------------------------------------------------------------- */

/* @param index  of the last crossing of its threshold in the record */
static void merge_add_crossing(struct apapi_merge *merge, const struct apapi_record *record,
                               size_t index, const struct merge_node *node)
{
    const struct apapi_crossing *last = &record->crossing[index];
    const struct apapi_crossing *first = &record->crossing[crossing_first(record, index)];
    struct merge_crossing *row =
        merge_row(merge, &merge->crossing_rows, last->threshold, &merge->crossings, sizeof *row);
    uint64_t count;

    if (!row) {
        return;
    }
    count = row->first.count + last->count;
    if (row->nodes == 0 || first->unix_ns < row->first.unix_ns) {
        row->first = *first;
        row->first_node = node;
    }
    if (row->nodes == 0 || last->unix_ns > row->last_unix_ns) {
        row->last_unix_ns = last->unix_ns;
    }
    row->first.count = count;
    row->nodes++;
}

/* --- problems --------------------------------------------------------------------------------- */

#define NAMES_MAX 100000 /* of nodes, in all notes together; more are only counted */

static void note_node(struct apapi_merge *merge, const struct merge_note *wanted,
                      struct merge_node *node)
{
    char key[APAPI_TEXT_SIZE + CROSSING_TEXT_SIZE + 100];
    struct merge_note *note;

    snprintf(key, sizeof key, "%d/%s/%s/%s", (int)wanted->kind, wanted->verdict, wanted->subject,
             wanted->reason);
    note = merge_row(merge, &merge->note_rows, key, &merge->notes, sizeof *note);
    if (!note) {
        return;
    }
    if (note->nodes == 0) {
        note->kind = wanted->kind;
        note->verdict = wanted->verdict;
        note->subject_text = pool_put(&merge->store.texts, wanted->subject);
        note->reason_text = pool_put(&merge->store.texts, wanted->reason);
        merge->no_memory |= note->subject_text == POOL_NONE || note->reason_text == POOL_NONE;
    }
    if (note->kind == MERGE_NOTE_ABSENT || note->kind == MERGE_NOTE_INCOMPLETE) {
        node->note = (uint32_t)(note - merge->notes);
    }
    note->nodes++;
    note->outages += wanted->outages;
    note->outage_ns += wanted->outage_ns;
    if (!note->first || merge_node_order(node, note->first) < 0) {
        note->first = node;
        note->index = wanted->index;
    }
    if (merge->named < NAMES_MAX) {
        merge->no_memory |= array_add(&note->names, note->named, &note->room, sizeof(char *)) != 0;
    }
    if (merge->named < NAMES_MAX && !merge->no_memory) {
        note->names[note->named++] = node->name;
        merge->named++;
    }
}

static void note_component(struct apapi_merge *merge,
                           const struct apapi_component_result *component, size_t index,
                           struct merge_node *node)
{
    const struct merge_note note = {.kind = MERGE_NOTE_COMPONENT,
                                    .subject = component->name,
                                    .verdict = !component->measured ? "not measured"
                                               : component->outages ? "no readings"
                                                                    : "measured in part",
                                    .reason = component->reason,
                                    .outages = component->measured ? component->outages : 0,
                                    .outage_ns = component->outage_ns,
                                    .index = index};

    if (!component->measured || component->outages || component->reason[0]) {
        note_node(merge, &note, node);
    }
}

static void note_stuck(struct apapi_merge *merge, const struct apapi_component_result *component,
                       size_t index, struct merge_node *node)
{
    for (size_t i = 0; i < component->event_count; i++) {
        const struct apapi_event_result *result = &component->events[i];
        const struct merge_note note = {
            .kind = MERGE_NOTE_STUCK,
            .subject = result->event.name,
            .verdict = result->event.kind == APAPI_KIND_POWER ? "never above 0 W, not counted"
                       : result->stuck                        ? "counter never moved, not counted"
                                                              : "counter did not move, not counted",
            .reason = result->stuck ? "" : "too short a time to tell whether it is stuck",
            .index = index + i};

        if (result->stuck || result->still) {
            note_node(merge, &note, node);
        }
    }
}

static void merge_add_notes(struct apapi_merge *merge, const struct apapi_record *record,
                            struct merge_node *node)
{
    const struct apapi_measurement *m = &record->measurement;
    const struct merge_note incomplete = {MERGE_NOTE_INCOMPLETE, "incomplete", .subject = "",
                                          .reason = record->reason};
    /* the record is valid, but later reports may lack it */
    const struct merge_note unwritten = {MERGE_NOTE_UNWRITTEN, "not in the accounting files",
                                         .subject = "", .reason = record->unwritten};
    size_t events = 0;

    for (size_t i = 0; i < m->component_count; i++) {
        note_component(merge, &m->components[i], i, node);
        note_stuck(merge, &m->components[i], events, node);
        events += m->components[i].event_count;
    }
    if (!record->complete) {
        note_node(merge, &incomplete, node);
    }
    if (*record->unwritten) {
        note_node(merge, &unwritten, node);
    }
}

static int by_kind_and_node(const void *left, const void *right)
{
    const struct merge_note *a = left, *b = right;
    int order = COMPARE(a->kind, b->kind);

    order = order ? order : merge_node_order(a->first, b->first);
    return order ? order : COMPARE(a->index, b->index);
}

struct merge_note *merge_notes_sorted(const struct apapi_merge *merge)
{
    size_t count = merge->note_rows.keys.count;
    struct merge_note *sorted = calloc(count + 1, sizeof *sorted);

    for (size_t i = 0; i < count && sorted; i++) {
        sorted[i] = merge->notes[i];
        sorted[i].subject = pool_text(&merge->store.texts, merge->notes[i].subject_text);
        sorted[i].reason = pool_text(&merge->store.texts, merge->notes[i].reason_text);
    }
    if (sorted) {
        qsort(sorted, count, sizeof *sorted, by_kind_and_node);
    }
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
    const struct apapi_identity before = *common;

    for (const struct field *field = fields_of_record; field->key; field++) {
        if (field->offset < sizeof(struct apapi_identity)) {
            keep_same(field, (char *)common + field->offset, (const char *)other + field->offset);
        }
    }
    common->tasks = known_sum(before.tasks, other->tasks);
    common->cores = known_sum(before.cores, other->cores);
    common->node_cores = known_sum(before.node_cores, other->node_cores);
    common->gpus = known_sum(before.gpus, other->gpus);
}

static void merge_add_common(struct apapi_merge *merge, const struct apapi_record *record)
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
    merge->expected = known_greater(merge->expected, record->id.nodes);
}

/* --- measurements ----------------------------------------------------------------------------- */

static void widen(struct merge_span *span, double value)
{
    span->least = fmin(span->least, value);
    span->most = fmax(span->most, value);
}

static void merge_add_trust(struct apapi_merge *merge, const struct apapi_measurement *m,
                            const struct merge_node *node)
{
    const struct apapi_incidents one = apapi_measurement_incidents(m);

    incidents_add(&merge->incidents, &one);
    merge->cpu_ns += m->cpu_ns;
    merge->window_ns = window_shorter_ns(merge->window_ns, window_shortest_ns(m));
    if (m->component_count > 0 && !isnan(m->covered)) {
        widen(&merge->covered, m->covered);
        widen(&merge->samples, (double)one.samples);
    }
    if (m->elapsed_ns > merge->elapsed_ns) {
        merge->elapsed_ns = m->elapsed_ns;
    }
    if (!merge->latest || m->late_ns > merge->late_ns) {
        merge->latest = node;
        merge->late_ns = m->late_ns;
    }
}

/* Nodes begin together: a wrong clock would distort the sum. INT64_MAX / 2 leaves room to add. */
static bool is_in_time(const struct merge_domain_sum *sum, int64_t start_ns,
                       const struct apapi_timeline *timeline)
{
    if (start_ns < 0 || start_ns > INT64_MAX / 2 || timeline->length_ns > INT64_MAX / 2) {
        return false;
    }
    return sum->timelines == 0 ||
           llabs((long long)(start_ns - sum->timeline.start_unix_ns)) < TIMING_APART_NS;
}

static void merge_add_domains(struct apapi_merge *merge, const struct apapi_measurement *m)
{
    double due_ns = (double)(m->late_ns + m->elapsed_ns);

    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct apapi_domain_result *one = &m->domains[d];
        struct merge_domain_sum *sum = &merge->domains[d];

        if (!one->measured || isnan(one->energy_j)) {
            continue;
        }
        sum->nodes++;
        sum->power_w =
            (struct apapi_summary){sum->power_w.min + one->power_w.min, one->power_w.mean,
                                   sum->power_w.max + one->power_w.max, one->power_w.p95};
        sum->rest_j += coverage_rest_of(one);
        sum->due_ns += due_ns;
        sum->covered_ns += one->covered > 0 ? one->covered * due_ns : NAN;
        if (one->timeline.count > 0 && is_in_time(sum, m->start_unix_ns, &one->timeline)) {
            apapi_timeline_sum_add(&sum->timeline, m->start_unix_ns, &one->timeline);
            sum->timelines++;
        }
    }
}

/* --- figures ---------------------------------------------------------------------------------- */

#define WHOLLY_PCT 99.0 /* how much of a bin must be known for it to count */
#define ROUNDING 0.002  /* relative, of timelines, whose energy is otherwise that of the mean */
#define NOTHING                                                                                    \
    ((struct merge_domain){.energy_j = NAN,                                                        \
                           .power_w = {NAN, NAN, NAN, NAN},                                        \
                           .uncertainty_j = NAN,                                                   \
                           .covered = NAN,                                                         \
                           .rest_j = NAN})

/*
 * Find the extremes of the bins' powers. Each bin is a window, whether all nodes run in it or not:
 * so the mean lies between the extremes. A shorter bin at the end belongs to the window before it.
 * Only windows that are fully known count. @return width of the windows [ns]; 0: none is known.
 */
static uint64_t find_extremes(const struct apapi_timeline *timeline, struct apapi_summary *power_w)
{
    double min_w = NAN, max_w = NAN;

    for (size_t bin = 0, end; bin < timeline->count; bin = end) {
        double energy_j = 0, length_ns = 0;

        end = bin + 1;
        if (end + 1 == timeline->count &&
            apapi_timeline_bin_length(timeline, end) < timeline->bin_ns) {
            end++;
        }
        for (size_t i = bin; i < end; i++) {
            double bin_ns = (double)apapi_timeline_bin_length(timeline, i);

            energy_j += timeline->covered_pct[i] < WHOLLY_PCT
                            ? NAN
                            : apapi_timeline_power_w(timeline, i) * bin_ns / NS_PER_S;
            length_ns += bin_ns;
        }
        min_w = fmin(min_w, energy_j * NS_PER_S / length_ns);
        max_w = fmax(max_w, energy_j * NS_PER_S / length_ns);
    }
    if (isnan(min_w)) {
        return 0;
    }
    power_w->min = min_w;
    power_w->max = max_w;
    return timeline->bin_ns < timeline->length_ns ? timeline->bin_ns : timeline->length_ns;
}

/*
 * The mean is that of all the time, the extremes are those of known windows. A mean beyond an
 * extreme shows that the power was beyond it in an unknown window: the extreme is not known then.
 */
static void drop_contradicted(struct apapi_summary *power_w)
{
    double mean_w = power_w->mean, rounding_w = ROUNDING * mean_w;

    if (mean_w < power_w->min) {
        power_w->min = power_w->min - mean_w <= rounding_w ? mean_w : NAN;
    }
    if (mean_w > power_w->max) {
        power_w->max = mean_w - power_w->max <= rounding_w ? mean_w : NAN;
    }
}

static bool all_have_timelines(const struct merge_domain_sum *sum)
{
    return sum->nodes > 1 && sum->timelines == sum->nodes;
}

/* A single record's mean is taken from the record: the mean is not known more exactly. */
static struct merge_domain merge_domain(const struct apapi_merge *merge,
                                        const struct apapi_job_total *total, int d)
{
    const struct merge_domain_sum *sum = &merge->domains[d];
    const struct apapi_job_domain *domain = &total->domains[d];
    struct merge_domain result = NOTHING;

    result.unknown = domain->unknown;
    if (sum->nodes == 0) {
        return result;
    }
    result.nodes = sum->nodes;
    result.energy_j = domain->energy_j;
    result.uncertainty_j = domain->uncertainty_j;
    result.rest_j = sum->rest_j;
    result.covered = sum->due_ns > 0 ? sum->covered_ns / sum->due_ns : NAN;
    result.power_w = sum->power_w;
    result.power_w.mean = total->records == 1 ? sum->power_w.mean : domain->mean_w;
    result.power_w.p95 = sum->nodes == 1 ? sum->power_w.p95 : NAN;
    if (all_have_timelines(sum)) {
        result.bin_ns = find_extremes(&sum->timeline.timeline, &result.power_w);
    }
    drop_contradicted(&result.power_w);
    return result;
}

static void merge_add_up(const struct apapi_merge *merge, const struct apapi_job_total *total,
                         struct merge_result *result)
{
    struct merge_domain *sum = &result->total;
    struct apapi_timeline_sum all = {0}; /* power of all nodes in all domains that add up */
    bool together = true;
    size_t most = 0;

    *sum = NOTHING;
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct merge_domain_sum *own = &merge->domains[d];
        struct merge_domain *one = &result->domains[d];
        bool first = sum->nodes == 0;

        *one = merge_domain(merge, total, d);
        if (!apapi_domain_adds_up(d) || one->nodes == 0) {
            continue;
        }
        together = together && all_have_timelines(own) && (first || one->nodes == most);
        if (together) {
            apapi_timeline_sum_add(&all, own->timeline.start_unix_ns, &own->timeline.timeline);
        }
        sum->nodes = first || one->nodes < sum->nodes ? one->nodes : sum->nodes;
        sum->rest_j = first ? one->rest_j : sum->rest_j + one->rest_j;
        sum->covered = first || !(one->covered >= sum->covered) ? one->covered : sum->covered;
        sum->power_w.mean = known_plus(sum->power_w.mean, one->power_w.mean);
        most = one->nodes > most ? one->nodes : most;
    }
    for (int d = APAPI_DOMAIN_NONE + 1; d < APAPI_DOMAINS; d++) {
        const struct merge_domain *one = &result->domains[d];
        bool lacks = one->unknown > 0 || (one->nodes > 0 && one->nodes < most);

        result->missing |= apapi_domain_adds_up(d) && lacks ? domain_bit(d) : 0;
    }
    sum->energy_j = total->energy_j;
    sum->uncertainty_j = total->uncertainty_j;
    sum->bin_ns = together ? find_extremes(&all.timeline, &sum->power_w) : 0;
    drop_contradicted(&sum->power_w);
}

static int by_order(const void *left, const void *right)
{
    return merge_node_order(*(const struct merge_node *const *)left,
                            *(const struct merge_node *const *)right);
}

int merge_work_out(const struct apapi_merge *merge, struct merge_result *result)
{
    struct sum_entries entries = {NULL, 0};
    struct apapi_job_total total;
    size_t all = apapi_merge_count(merge) + apapi_merge_awaited(merge);
    const struct merge_node **nodes = calloc(all + 1, sizeof(struct merge_node *));
    bool failed = !nodes || merge->no_memory ||
                  sum_gather(&merge->store, NULL, merge->store.piece_count, &entries) ||
                  sum_total(&merge->store, &entries, &total);

    free(entries.list);
    if (failed) {
        free(nodes);
        errno = ENOMEM;
        return -1;
    }
    *result =
        (struct merge_result){.nodes = nodes,
                              .recorded = merge->nodes.count[MERGE_RECORDED],
                              .busy_s = total.busy_ns > 0 ? (double)total.busy_ns / NS_PER_S : NAN,
                              .expected = merge->expected > all ? merge->expected : all};
    for (size_t i = 0; i < merge->nodes.names.count; i++) {
        if (merge->nodes.list[i]->state != MERGE_AWAITED) {
            nodes[result->present++] = merge->nodes.list[i];
        }
    }
    qsort(nodes, result->present, sizeof(struct merge_node *), by_order);
    merge_add_up(merge, &total, result);
    return 0;
}

/* --- the step --------------------------------------------------------------------------------- */

struct apapi_merge *apapi_merge_create(void)
{
    struct apapi_merge *merge = calloc(1, sizeof(*merge));

    if (merge) {
        merge->store.curveless = true;
        merge->covered = merge->samples = (struct merge_span){NAN, NAN};
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
        free(merge->nodes.list[i]);
    }
    pool_free(&merge->nodes.names);
    for (size_t i = 0; i < merge->note_rows.keys.count; i++) {
        free(merge->notes[i].names);
    }
    sum_free(&merge->store);
    namelist_free(&merge->lines);
    pool_free(&merge->component_rows.keys);
    pool_free(&merge->event_rows.keys);
    pool_free(&merge->crossing_rows.keys);
    pool_free(&merge->note_rows.keys);
    free(merge->nodes.list);
    free(merge->components);
    free(merge->events);
    free(merge->crossings);
    free(merge->notes);
    region_sums_free(&merge->regions);
    free(merge);
    errno = saved_errno;
}

static struct merge_node *merge_find(const struct apapi_merge *merge, const char *name)
{
    char cut[APAPI_TEXT_SIZE]; /* the name as a record has it: longer names are cut */
    uint32_t number;

    snprintf(cut, sizeof cut, "%s", name);
    number = pool_find(&merge->nodes.names, cut);
    return number == POOL_NONE ? NULL : merge->nodes.list[number];
}

/* NULL with errno ENOMEM. */
static struct merge_node *node_create(struct merge_nodes *nodes, const char *name)
{
    size_t size = strnlen(name, APAPI_TEXT_SIZE - 1) + 1;
    struct merge_node *node = malloc(sizeof *node + size);
    uint32_t number = POOL_NONE;

    if (node) {
        *node = (struct merge_node){.index = APAPI_UNKNOWN,
                                    .piece = POOL_NONE,
                                    .note = POOL_NONE,
                                    .total_j = NAN,
                                    .uncertainty_j = NAN,
                                    .covered = NAN};
        snprintf(node->name, size, "%s", name);
        number = pool_put_row(&nodes->names, node->name, &nodes->list, &nodes->room,
                              sizeof(struct merge_node *));
    }
    if (number == POOL_NONE) {
        free(node);
        errno = ENOMEM;
        return NULL;
    }
    nodes->list[number] = node;
    return node;
}

/* Enter the node called `name`, which must be awaited or new. NULL with EEXIST, ENOMEM. */
static struct merge_node *merge_enter(struct apapi_merge *merge, const char *name,
                                      enum merge_state state)
{
    struct merge_node *node = merge_find(merge, name);

    if (node && node->state != MERGE_AWAITED) {
        errno = EEXIST;
        return NULL;
    }
    merge->nodes.count[MERGE_AWAITED] -= node != NULL;
    node = node ? node : node_create(&merge->nodes, name);
    if (node) {
        node->state = state;
        merge->nodes.count[state]++;
    }
    return node;
}

/* @return 0; -1 with errno ENOMEM: something could not be added, now or earlier */
static int merge_state(const struct apapi_merge *merge)
{
    errno = merge->no_memory ? ENOMEM : errno;
    return merge->no_memory ? -1 : 0;
}

int merge_add_crossings(struct apapi_merge *merge, const struct apapi_record *record)
{
    struct merge_node *node = merge_find(merge, record->id.node);
    char text[CROSSING_TEXT_SIZE];

    for (size_t i = 0; i < record->crossing_count; i++) {
        const struct merge_note note = {.kind = MERGE_NOTE_CROSSING,
                                        .subject = record->crossing[i].threshold,
                                        .verdict = "crossed",
                                        .reason = text,
                                        .index = i};

        if (crossing_is_last(record, i)) {
            crossing_text(record, i, text, sizeof text);
            merge_add_crossing(merge, record, i, node);
            note_node(merge, &note, node);
        }
    }
    return merge_state(merge);
}

int apapi_merge_add(struct apapi_merge *merge, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;
    struct merge_node *node = merge_enter(merge, record->id.node, MERGE_RECORDED);

    if (!node) {
        return -1;
    }
    merge->no_memory |= sum_add(&merge->store, record, NULL) != 0;
    node->piece = (uint32_t)merge->store.piece_count - 1;
    node->index = record->id.node_index;
    node->total_j = apapi_measurement_total_j(m);
    node->uncertainty_j = apapi_record_uncertainty_j(m);
    node->covered = m->component_count > 0 ? m->covered : NAN;
    merge_add_trust(merge, m, node);
    merge_add_domains(merge, m);
    share_sum_add(&merge->share, &record->share);
    merge_add_common(merge, record);
    merge_add_meters(merge, m);
    merge->no_memory |= region_sums_add(&merge->regions, record) != 0;
    merge_add_notes(merge, record, node);
    return merge_add_crossings(merge, record);
}

int apapi_merge_absent(struct apapi_merge *merge, const char *name, const char *reason)
{
    struct merge_node *node = merge_enter(merge, name, MERGE_ABSENT);
    char text[APAPI_TEXT_SIZE];
    const struct merge_note note = {
        .kind = MERGE_NOTE_ABSENT, .subject = "", .verdict = "no record", .reason = text};

    if (!node) {
        return -1;
    }
    snprintf(text, sizeof(text), "%s", reason ? reason : "");
    if (*text) {
        note_node(merge, &note, node);
    }
    return merge_state(merge);
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
    return merge->nodes.count[MERGE_RECORDED] + merge->nodes.count[MERGE_ABSENT];
}

size_t apapi_merge_awaited(const struct apapi_merge *merge)
{
    return merge->nodes.count[MERGE_AWAITED];
}

void apapi_merge_absentees(const struct apapi_merge *merge, apapi_absent_f visit, void *context)
{
    for (size_t i = 0; i < merge->note_rows.keys.count; i++) {
        const struct merge_note *note = &merge->notes[i];
        const char *reason = pool_text(&merge->store.texts, note->reason_text);

        for (size_t k = 0; note->kind == MERGE_NOTE_ABSENT && k < note->named; k++) {
            visit(note->names[k], reason, context);
        }
    }
}
