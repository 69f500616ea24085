/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_SHORTEN_H
#define RECORD_SHORTEN_H
#include <jansson.h>

#include "apapi/record.h"
#include "base/json.h"

/*
 * A line of the accounting file omits what follows from the rest of it. Common values of most
 * events of a kind are written once, in their component's "common".
 */

/** Shorten the JSON of a whole record. 0; -1: out of memory. */
int shorten_record(json_t *root, const struct apapi_record *record);

/** @return the object in a component's "common" with the values that an event omits; NULL: none. */
const struct tree_node *shortened_common(const struct tree_node *component,
                                         const struct tree_node *event);

/** Fill in the omitted numbers. */
void shortened_fill_in(struct apapi_measurement *m);

#endif
