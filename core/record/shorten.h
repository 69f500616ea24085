/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_SHORTEN_H
#define RECORD_SHORTEN_H
#include <jansson.h>

#include "apapi/record.h"

/*
 * A line of the accounting file leaves out what follows from the rest of it. What most events of a
 * kind have in common stands once, in their component's "common".
 */

/** Make the JSON of a whole record short. 0; -1 when out of memory. */
int shorten_record(json_t *root, const struct apapi_record *record);

/**
 * @return an element of a component's `events` with what stands in `common`, a new reference; NULL
 *         when out of memory.
 */
json_t *shortened_event(const json_t *component, json_t *event);

/** Fill in the numbers that were left out. */
void shortened_fill_in(struct apapi_measurement *m);

#endif
