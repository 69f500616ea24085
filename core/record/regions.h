/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RECORD_REGIONS_H
#define RECORD_REGIONS_H
#include <jansson.h>
#include <stdbool.h>

#include "apapi/region_result.h"
#include "base/json.h"
#include "record/fields.h"

/** @return whether a record says anything of them. */
bool regions_exist(const struct apapi_regions *regions);

/**
 * Add "regions", "foms" and "regions_lost" to a record.
 * @param whole  also what follows from the rest: power_w
 * @return 0; -1: out of memory
 */
int regions_encode(json_t *root, const struct apapi_regions *regions, bool whole);

/** Read them from a record that may have none. 0; -1 with errno and path->err. */
int regions_decode(const struct tree_node *root, struct apapi_regions *regions,
                   const struct field_path *path);

/** @return the same as a text, free it with free(); NULL: out of memory. */
char *regions_text(const struct apapi_regions *regions);

/** Read such a text. 0; -1: it is none, or out of memory; `regions` is empty then. */
int regions_parse(const char *text, size_t size, struct apapi_regions *regions);

/** Make a deep copy. 0; -1 with ENOMEM, `copy` unchanged. */
int regions_copy(struct apapi_regions *copy, const struct apapi_regions *regions);

/** @return a region of no known energy. */
struct apapi_region_result region_unmeasured(void);

/** @return energy_j / time_ns [W]; NaN: not known. */
double region_power_w(const struct apapi_region_result *region, enum apapi_domain domain);

#endif
