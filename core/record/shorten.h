/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_SHORTEN_H
#define RECORD_SHORTEN_H
#include <jansson.h>

#include "apapi/record.h"
#include "json/json_tree.h"

/*
 * A line of the accounting file leaves out what follows from the rest of it. What most events of a
 * kind have in common stands once, in their component's "common".
 */

/** Make the JSON of a whole record short. 0; -1 when out of memory. */
int shorten_record(json_t *root, const struct apapi_record *record);

/** @return the object in a component's "common" with what an event leaves out; NULL: there is none.
 */
const struct tree_node *shortened_common(const struct tree_node *component,
                                         const struct tree_node *event);

/** Fill in the numbers that were left out. */
void shortened_fill_in(struct apapi_measurement *m);

#endif
