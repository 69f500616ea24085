/* SPDX-License-Identifier: BSD-3-Clause */
/* The notes on a step besides its energy: events, crossings of thresholds, problems. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sum/members.h"
#include "sum/merge.h"

uint32_t merge_hash(const char *text)
{
    uint32_t hash = 2166136261U; /* FNV-1a */

    for (size_t i = 0; i < APAPI_TEXT_SIZE - 1 && text[i]; i++) {
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    }
    return hash;
}

int merge_node_order(const struct merge_node *left, const struct merge_node *right)
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

#define ROWS_MAX 256 /* a report shows a few of them */

static bool is_same_event(const struct merge_event *row, const struct apapi_event *event,
                          uint32_t hash)
{
    return row->hash == hash && row->event.estimated == event->estimated &&
           strcmp(row->event.name, event->name) == 0;
}

/* NULL with errno ENOMEM, or ENOSPC: too many. */
static struct merge_event *merge_events_find(struct merge_events *events,
                                             const struct apapi_event *event)
{
    uint32_t hash = merge_hash(event->name);
    for (size_t i = 0; i < events->count; i++) {
        size_t index = (events->next + i) % events->count;

        if (is_same_event(&events->rows[index], event, hash)) {
            events->next = index + 1;
            return &events->rows[index];
        }
    }
    if (events->count == ROWS_MAX) {
        events->full = true;
        errno = ENOSPC;
        return NULL;
    }
    if (array_add(&events->rows, events->count, &events->capacity, sizeof(*events->rows))) {
        return NULL;
    }
    events->rows[events->count] = (struct merge_event){*event, hash, 0, NAN, 0, 0, NAN, NAN};
    return &events->rows[events->count++];
}

static int merge_events_add_event(struct merge_events *events,
                                  const struct apapi_event_result *result)
{
    struct merge_event *row = merge_events_find(events, &result->event);

    if (!row) {
        return errno == ENOSPC ? 0 : -1;
    }
    row->nodes++;
    if (!isnan(result->total)) {
        row->total = isnan(row->total) ? result->total : row->total + result->total;
    }
    if (!isnan(result->summary.mean)) {
        double covered_s = (double)result->covered_ns / 1e9;

        row->weighted += result->summary.mean * covered_s;
        row->covered_s += covered_s;
    }
    row->min = fmin(row->min, result->summary.min);
    row->max = fmax(row->max, result->summary.max);
    return 0;
}

int merge_events_add(struct merge_events *events, const struct apapi_measurement *m)
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

void merge_events_clear(struct merge_events *events)
{
    free(events->rows);
    *events = (struct merge_events){0};
}

/* --- thresholds that were crossed ------------------------------------------------------------- */

#define ROWS_MAX 256 /* nodes have the same thresholds; of more, none is in the sum */

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

int merge_crossings_add(struct merge_crossings *crossings, const struct apapi_record *record,
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

void merge_crossings_clear(struct merge_crossings *crossings)
{
    free(crossings->rows);
    *crossings = (struct merge_crossings){0};
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

int merge_notes_add(struct merge_notes *notes, const struct apapi_record *record,
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

int merge_notes_absent(struct merge_notes *notes, struct merge_node *node, const char *reason)
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

void merge_notes_clear(struct merge_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        free(notes->notes[i].texts);
        free(notes->notes[i].names);
    }
    free(notes->notes);
    *notes = (struct merge_notes){0};
}
