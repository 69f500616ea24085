/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/table.h"
#include "record/text.h"
#include "record/units.h"

#define NAMES_LISTED 4
#define NOTES_LISTED 10
#define LATE_TOLD_NS UINT64_C(10000000)

/* The same thing said of one or several nodes. Texts are borrowed from the merge. */
struct note {
    const char *subject; /* NULL: the nodes themselves */
    const char *verdict;
    const char *reason;
    const char *names[NAMES_LISTED];
    size_t nodes;
};

struct notes {
    struct note *notes;
    size_t count;
    size_t capacity;
    size_t last; /* the one found last: most likely also the next */
    bool no_memory;
};

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_note(const struct note *a, const struct note *b)
{
    return is_same_text(a->subject, b->subject) && is_same_text(a->verdict, b->verdict) &&
           is_same_text(a->reason, b->reason);
}

static struct note *append(struct notes *notes, const struct note *note)
{
    if (notes->count == notes->capacity) {
        size_t capacity = notes->capacity ? notes->capacity * 2 : 8;
        struct note *grown = reallocarray(notes->notes, capacity, sizeof(*grown));

        if (!grown) {
            notes->no_memory = true;
            return NULL;
        }
        notes->notes = grown;
        notes->capacity = capacity;
    }
    notes->notes[notes->count] = *note;
    return &notes->notes[notes->count++];
}

static struct note *find(struct notes *notes, const struct note *wanted)
{
    for (size_t i = 0; i < notes->count; i++) {
        size_t place = (notes->last + i) % notes->count;

        if (is_same_note(&notes->notes[place], wanted)) {
            notes->last = place;
            return &notes->notes[place];
        }
    }
    return append(notes, wanted);
}

static void note_node(struct notes *notes, const struct note *wanted, const char *name)
{
    struct note *note = find(notes, wanted);

    if (!note) {
        return;
    }
    if (note->nodes < NAMES_LISTED) {
        note->names[note->nodes] = name;
    }
    note->nodes++;
}

static void put_names(FILE *out, const struct note *note)
{
    for (size_t i = 0; i < note->nodes && i < NAMES_LISTED; i++) {
        fprintf(out, "%s%s", i ? ", " : "", note->names[i]);
    }
    if (note->nodes > NAMES_LISTED) {
        fprintf(out, " and %zu more", note->nodes - NAMES_LISTED);
    }
}

static void put_subject(FILE *out, const struct note *note, const struct table *table)
{
    if (note->subject) {
        fputs(note->subject, out);
    }
    if (note->subject && (table->expected < 2 || note->nodes == table->recorded)) {
        return;
    }
    if (note->subject) {
        fputs(" on ", out);
    }
    put_names(out, note);
}

static int put_note(const struct note *note, const struct table *table)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out) {
        return -1;
    }
    put_subject(out, note, table);
    fprintf(out, ": %s", note->verdict);
    if (note->reason && *note->reason) {
        fprintf(out, " (%s)", note->reason);
    }
    if (fclose(out) == EOF) {
        free(text);
        return -1;
    }
    text_wrap(table->out, text[0] == ':' ? text + 2 : text);
    free(text);
    return 0;
}

static int put_notes(const struct notes *notes, const struct table *table)
{
    for (size_t i = 0; i < notes->count && i < NOTES_LISTED; i++) {
        if (put_note(&notes->notes[i], table) < 0) {
            return -1;
        }
    }
    if (notes->count > NOTES_LISTED) {
        fprintf(table->out, "  ... and %zu more (see the records)\n", notes->count - NOTES_LISTED);
    }
    return notes->no_memory ? -1 : 0;
}

typedef void (*collect_f)(struct notes *notes, const struct apapi_record *record);

static int put_notes_of(const struct table *table, collect_f collect)
{
    struct notes notes = {0};
    int rc;

    for (size_t i = 0; i < table->recorded; i++) {
        collect(&notes, &table->nodes[i]->record);
    }
    rc = put_notes(&notes, table);
    free(notes.notes);
    return rc;
}

static void collect_components(struct notes *notes, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;

    for (size_t i = 0; i < m->component_count; i++) {
        const struct apapi_component_result *component = &m->components[i];
        const struct note note = {.subject = component->name,
                                  .verdict =
                                      component->measured ? "measured in part" : "not measured",
                                  .reason = component->reason};

        if (!component->measured || component->reason[0]) {
            note_node(notes, &note, record->id.node);
        }
    }
}

static void collect_incomplete(struct notes *notes, const struct apapi_record *record)
{
    const struct note note = {.verdict = "incomplete", .reason = record->reason};

    if (!record->complete) {
        note_node(notes, &note, record->id.node);
    }
}

static void collect_stuck(struct notes *notes, const struct apapi_record *record)
{
    const struct apapi_measurement *m = &record->measurement;

    for (size_t i = 0; i < m->component_count; i++) {
        for (size_t k = 0; k < m->components[i].event_count; k++) {
            const struct apapi_event_result *result = &m->components[i].events[k];
            const struct note note = {.subject = result->event.name,
                                      .verdict = "counter never moved, not counted"};

            if (result->stuck) {
                note_node(notes, &note, record->id.node);
            }
        }
    }
}

static int put_absent(const struct table *table)
{
    struct notes notes = {0};
    int rc;

    for (size_t i = 0; i < table->absent; i++) {
        const struct apapi_record *record = &table->nodes[table->recorded + i]->record;
        const struct note note = {.verdict = "no record", .reason = record->reason};

        note_node(&notes, &note, record->id.node);
    }
    rc = put_notes(&notes, table);
    free(notes.notes);
    return rc;
}

static void put_late(const struct table *table)
{
    const struct apapi_record *latest = NULL;
    char duration[UNITS_SIZE];
    char text[APAPI_TEXT_SIZE + 128];
    uint64_t late_ns;

    for (size_t i = 0; i < table->recorded; i++) {
        if (!latest || table->nodes[i]->record.measurement.late_ns > latest->measurement.late_ns) {
            latest = &table->nodes[i]->record;
        }
    }
    late_ns = latest ? latest->measurement.late_ns : 0;
    if (late_ns <= LATE_TOLD_NS) {
        return;
    }
    if (late_ns < UINT64_C(9999500000)) {
        snprintf(duration, sizeof(duration), "%.0f ms", (double)late_ns / 1e6);
    } else {
        units_duration(duration, sizeof(duration), (double)late_ns / 1e9);
    }
    if (table->recorded > 1) {
        snprintf(text, sizeof(text), "first %s not covered on %s, less on others", duration,
                 latest->id.node);
    } else {
        snprintf(text, sizeof(text), "first %s not covered", duration);
    }
    text_wrap(table->out, text);
}

static void put_count(FILE *out, bool *any, uint64_t count, const char *one, const char *many)
{
    if (count == 0) {
        return;
    }
    fprintf(out, "%s%" PRIu64 " %s", *any ? ", " : "  ", count, count == 1 ? one : many);
    *any = true;
}

static uint64_t add_incidents(struct apapi_incidents *sum, const struct apapi_measurement *m)
{
    const struct apapi_incidents one = apapi_measurement_incidents(m);
    uint64_t missed = 0;

    sum->failed += one.failed;
    sum->resets += one.resets;
    sum->refused += one.refused;
    sum->gaps += one.gaps;
    sum->stalls += one.stalls;
    for (size_t i = 0; i < m->component_count; i++) {
        missed += m->components[i].missed;
    }
    return missed;
}

static void put_incidents(const struct table *table)
{
    struct apapi_incidents sum = {0};
    uint64_t missed = 0;
    bool any = false;

    for (size_t i = 0; i < table->recorded; i++) {
        missed += add_incidents(&sum, &table->nodes[i]->record.measurement);
    }
    put_count(table->out, &any, sum.failed, "reading failed", "readings failed");
    put_count(table->out, &any, sum.refused, "refused", "refused");
    put_count(table->out, &any, sum.resets, "reset", "resets");
    put_count(table->out, &any, sum.gaps, "gap", "gaps");
    put_count(table->out, &any, sum.stalls, "standstill", "standstills");
    put_count(table->out, &any, missed, "tick missed", "ticks missed");
    if (any) {
        fputc('\n', table->out);
    }
}

int table_put_notes(const struct table *table)
{
    if (put_notes_of(table, collect_components) < 0 || put_absent(table) < 0 ||
        put_notes_of(table, collect_incomplete) < 0 || put_notes_of(table, collect_stuck) < 0) {
        return -1;
    }
    put_late(table);
    put_incidents(table);
    return 0;
}
