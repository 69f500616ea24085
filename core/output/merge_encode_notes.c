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

int merge_encode_notes(json_t *root, const struct merge_notes *notes, size_t recorded)
{
    const struct encoded_notes encoded = {merge_notes_sorted(notes), recorded};
    int rc = encoded.sorted ? fields_put_list(root, "notes", notes->count, put_note, &encoded) : -1;

    free(encoded.sorted);
    return rc == 0 && notes->full ? field_put(root, "more_notes", json_true()) : rc;
}
