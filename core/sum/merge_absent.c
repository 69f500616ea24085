/* SPDX-License-Identifier: BSD-3-Clause */
#include "sum/merge_parts.h"

void apapi_merge_absentees(const struct apapi_merge *merge, apapi_absent_f visit, void *context)
{
    for (size_t i = 0; i < merge->notes.count; i++) {
        const struct merge_note *note = &merge->notes.notes[i];

        for (size_t k = 0; note->kind == MERGE_NOTE_ABSENT && k < note->named; k++) {
            visit(note->names[k], note->reason, context);
        }
    }
}
