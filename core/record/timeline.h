/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_TIMELINE_H
#define RECORD_TIMELINE_H
#include "record/fields.h"

struct apapi_measurement;
struct apapi_timeline;

/** Put "unit_j":…,"n":[…],"covered_pct":{…} of a timeline with bins. 0; otherwise out of memory. */
int timeline_encode(json_t *object, const struct apapi_timeline *timeline);

/**
 * Add the domains' power over time to a record, or replace it.
 * @param joins  how often pairs of bins are joined
 * @return 0; -1: out of memory.
 */
int timelines_encode(json_t *root, const struct apapi_measurement *m, unsigned joins);

/**
 * Read the value of "timeline", or nothing if it is NULL. Domains and elapsed_ns must have been
 * read before. 0; -1 with EINVAL and path->err.
 */
int timelines_decode(const struct tree_node *object, struct apapi_measurement *m,
                     const struct field_path *path);

/** The same from its JSON. 0; -1 with EINVAL, ENOMEM. */
int timelines_parse(const char *text, size_t size, struct apapi_measurement *m);

#endif
