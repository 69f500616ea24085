/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OUTPUT_MERGE_ENCODE_NOTES_H
#define OUTPUT_MERGE_ENCODE_NOTES_H
#include <jansson.h>
#include <stddef.h>

#include "sum/merge_parts.h"

/**
 * Put what is unusual of components and events into a merged record: `notes`, `more_notes`.
 * @param recorded  nodes that have a record
 * @return 0, or -1: no memory
 */
int merge_encode_notes(json_t *root, const struct merge_notes *notes, size_t recorded);

#endif
