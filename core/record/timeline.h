/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_TIMELINE_H
#define RECORD_TIMELINE_H
#include "record/fields.h"

struct apapi_measurement;

/** Add the domains' power over time to a record. 0; -1 when out of memory. */
int timelines_encode(json_t *root, const struct apapi_measurement *m);

/** Read them; domains and elapsed_ns have been read before. 0; -1 with EINVAL and place->err. */
int timelines_decode(const json_t *root, struct apapi_measurement *m,
                     const struct field_place *place);

#endif
