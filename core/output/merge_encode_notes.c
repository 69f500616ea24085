/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/merge_encode_notes.h"

#include <stdlib.h>

#include "record/fields.h"

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

static json_t *encode_note(const struct merge_note *note, size_t recorded)
{
    const char *subject = note->kind == MERGE_NOTE_STUCK ? "event" : "component";
    json_t *object = json_object();
    int rc = field_put_text(object, subject, note->subject);

    rc |= field_put_text(object, "verdict", note->verdict);
    if (*note->reason) {
        rc |= field_put_text(object, "reason", note->reason);
    }
    if (note->outages > 0) {
        rc |= field_put_count(object, "outages", note->outages);
        rc |= field_put(object, "outage_s", json_real((double)note->outage_ns / 1e9));
    }
    rc |= field_put_count(object, "nodes", note->nodes) | put_names(object, note, recorded);
    if (rc < 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

int merge_encode_notes(json_t *root, const struct merge_notes *notes, size_t recorded)
{
    const struct merge_note **sorted = merge_notes_sorted(notes);
    json_t *array = json_array();
    int rc = field_put(root, "notes", array) | (sorted ? 0 : -1);

    for (size_t i = 0; i < notes->count && rc == 0; i++) {
        if (sorted[i]->kind == MERGE_NOTE_COMPONENT || sorted[i]->kind == MERGE_NOTE_STUCK) {
            rc = json_array_append_new(array, encode_note(sorted[i], recorded));
        }
    }
    free(sorted);
    return rc == 0 && notes->full ? field_put(root, "more_notes", json_true()) : rc;
}
